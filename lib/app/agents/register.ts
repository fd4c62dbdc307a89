import type { K8sApp, K8sCluster } from '../../domain/shared/fleet.ts';
import { derivedId } from '../derived-ids.ts';
import { AppError, conflict } from '../errors.ts';
import { appsOf, type Report } from './calls.ts';
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

/** An agent that has just been bound, and what was read on the way. */
export interface Registered {
  readonly row: Presence;
  /** App rows of the cluster that the report names. */
  readonly apps: ReadonlyMap<string, K8sApp>;
}

/**
 * First contact, a new or rotated key, another host (DESIGN A2): the key row is read, and the agent's row is bound to this key and host. A second host
 * with the same agent id or for the same cluster is refused (SPEC §6). `row` is the agent's row as the heartbeat found it.
 */
export async function register(
  services: AgentServices,
  keys: AgentKeys,
  token: string,
  who: Identity,
  report: Report,
  row: Presence | null,
): Promise<Registered> {
  const key = keys.idOf(token);
  const read = await services.objects.getSome({
    access_key: [key],
    k8s_cluster: who.k8s_cluster === null ? [] : [who.k8s_cluster],
    k8s_app: appIds(services, who, report),
  });
  const scope = await keys.accepted(token, read.access_key.get(key) ?? null);
  const paused_until = who.k8s_cluster === null ? null : pauseOf(scope, read.k8s_cluster.get(who.k8s_cluster) ?? null, who, report);
  await refuseOtherHosts(services, scope, who);
  const binding = {
    kind: who.kind,
    organization: scope.organization,
    workspace: scope.workspace,
    k8s_cluster: who.k8s_cluster,
    reported_agent_id: who.reported_agent_id,
    key_id: scope.key_id,
    key_hash: scope.key_hash,
    cluster_uid: who.cluster_uid,
    paused_until,
  };
  const now = services.clock.now();
  const bound = await services.presence.bind({ agent: who.agent, ...binding, now }, row);
  if (!bound.ok) throw otherHost(bound.row?.cluster_uid ?? '', who);
  services.log.info('agent_registered', { agent: who.agent, kind: who.kind, workspace: scope.workspace, k8s_cluster: who.k8s_cluster });
  const registered_at = bound.before?.registered_at ?? now;
  return { row: { ...(bound.before ?? NEVER_SEEN), ...binding, registered_at, id: who.agent, revoked: false }, apps: read.k8s_app };
}

const NEVER_SEEN = {
  gone: false,
  last_seen: null,
  version: null,
  health: null,
  apps: null,
  inbox: {},
  cancels: [],
  downtime: null,
} as const satisfies Partial<Presence>;

function appIds(services: AgentServices, who: Identity, report: Report): string[] {
  const cluster = who.k8s_cluster;
  if (cluster === null) return [];
  return [...new Set((appsOf(report) ?? []).map((app) => derivedId.app(services.ids, cluster, app.name)))];
}

function pauseOf(scope: Scope, cluster: K8sCluster | null, who: Identity, report: Report): number | null {
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
  // The agent's own row says itself, when it is bound, whether it may be.
  const rows = await services.presence.getMany(agents.filter((id) => id !== who.agent));
  const other = rows.find((row) => row.cluster_uid !== null && row.cluster_uid !== who.cluster_uid);
  if (other !== undefined) throw otherHost(other.cluster_uid ?? '', who);
}

const otherHost = (bound: string, who: Identity): AppError =>
  conflict(
    `This agent is bound to the cluster with UID ${bound}, the report came from ${who.cluster_uid}. ` +
      `Stop one of the two; if the cluster was rebuilt, an administrator binds it anew with POST /api/v1/agents/${who.agent}/rebind/.`,
  );
