import { derivedId } from '../derived-ids.ts';
import { AppError, conflict } from '../errors.ts';
import type { Report } from './calls.ts';
import { type AgentKeys, forbidden, type Scope } from './identify.ts';
import { FOREVER, NO_HOST, type Presence } from './presence.ts';
import type { AgentServices } from './services.ts';

/** Who reports: which row it is, and from which host. */
export interface Identity {
  readonly agent: string;
  readonly kind: 'operator' | 'agent';
  readonly k8s_cluster: string | null;
  readonly reported_agent_id: string;
  readonly cluster_uid: string;
}

/**
 * Follows from the key's scope and the report alone, without a read: a cluster's id follows from its workspace and name. An agent
 * that names a cluster is its operator unless it says otherwise.
 */
export function identityOf(services: AgentServices, scope: Scope, report: Report): Identity {
  const cluster = clusterOf(services, scope, report);
  const kind = report.kind ?? (cluster === null ? 'agent' : 'operator');
  if (kind === 'operator' && (cluster === null || report.cluster === undefined))
    throw required('cluster', 'an operator must say which cluster it runs on: {"uid": …, "name": …}');
  const reported = report.reported_agent_id ?? (kind === 'operator' ? 'operator' : 'agent');
  const agent =
    kind === 'operator' && cluster !== null
      ? derivedId.operatorAgent(services.ids, cluster)
      : derivedId.agent(services.ids, cluster ?? scope.workspace, reported);
  return { agent, kind, k8s_cluster: cluster, reported_agent_id: reported, cluster_uid: report.cluster?.uid ?? NO_HOST };
}

function clusterOf(services: AgentServices, scope: Scope, report: Report): string | null {
  const name = report.cluster?.name;
  if (scope.k8s_cluster !== null) {
    if (name !== undefined && scope.k8s_cluster_name !== null && name !== scope.k8s_cluster_name)
      throw forbidden(
        `This key is for cluster "${scope.k8s_cluster_name}"; the report came from "${name}". Give "${name}" a key of its own.`,
      );
    return scope.k8s_cluster;
  }
  return name === undefined ? null : derivedId.cluster(services.ids, scope.workspace, name);
}

const required = (attr: string, detail: string): AppError => new AppError('invalid', [{ code: 'required', detail, attr }]);

/**
 * First contact, a new or rotated key, another host (DESIGN A2): the key row is read, and the agent's row is bound to this key and host. A second host
 * with the same agent id or for the same cluster is refused (SPEC §6).
 */
export async function register(services: AgentServices, keys: AgentKeys, token: string, who: Identity, report: Report): Promise<Presence> {
  const scope = await keys.proven(token);
  const paused_until = await pauseOf(services, scope, who, report);
  await refuseOtherHosts(services, scope, who);
  const bound = await services.presence.bind({
    agent: who.agent,
    kind: who.kind,
    organization: scope.organization,
    workspace: scope.workspace,
    k8s_cluster: who.k8s_cluster,
    reported_agent_id: who.reported_agent_id,
    key_id: scope.key_id,
    key_hash: scope.key_hash,
    cluster_uid: who.cluster_uid,
    paused_until,
    now: services.clock.now(),
  });
  if (!bound.ok) throw otherHost(bound.row?.cluster_uid ?? '', who);
  const row = await services.presence.get(who.agent, true);
  if (row === null) throw new Error(`agent ${who.agent} vanished while it registered`);
  services.log.info('agent_registered', { agent: who.agent, kind: who.kind, workspace: scope.workspace, k8s_cluster: who.k8s_cluster });
  return row;
}

async function pauseOf(services: AgentServices, scope: Scope, who: Identity, report: Report): Promise<number | null> {
  if (who.k8s_cluster === null) return null;
  const cluster = await services.objects.get('k8s_cluster', who.k8s_cluster, true);
  const name = report.cluster?.name ?? scope.k8s_cluster_name ?? who.k8s_cluster;
  if (cluster === null || cluster.workspace !== scope.workspace)
    throw forbidden(`Workspace "${scope.workspace_name}" has no cluster "${name}"; create or import it first, under exactly this name.`);
  if (cluster.archived || !cluster.active)
    throw forbidden(`Cluster "${name}" is archived or inactive; activate it before its agent reports.`);
  const { paused, paused_until } = cluster.rollout_override;
  return paused ? (paused_until ?? FOREVER) : null;
}

async function refuseOtherHosts(services: AgentServices, scope: Scope, who: Identity): Promise<void> {
  if (who.k8s_cluster === null) return;
  const { organization, workspace } = scope;
  const agents = await services.presence.listIds({ organization, workspace, k8s_cluster: who.k8s_cluster });
  const rows = await services.presence.getMany(agents);
  const other = rows.find((row) => row.cluster_uid !== null && row.cluster_uid !== who.cluster_uid);
  if (other !== undefined) throw otherHost(other.cluster_uid ?? '', who);
}

const otherHost = (bound: string, who: Identity): AppError =>
  conflict(
    `This agent is bound to the cluster with UID ${bound}, the report came from ${who.cluster_uid}. ` +
      `Stop one of the two; if the cluster was rebuilt, an administrator binds it anew with POST /api/v1/agents/${who.agent}/rebind/.`,
  );
