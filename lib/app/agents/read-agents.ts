import { agentState, worst } from '../../domain/agent/liveness.ts';
import { type AppState, OPERATOR_APP } from '../../domain/shared/fleet.ts';
import type { SystemSettings } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { auditOf } from '../engine/audit.ts';
import type { EngineServices } from '../engine/services.ts';
import { notFound } from '../errors.ts';
import { fixedLanes, type Page, type PageRequest, readPage } from '../paging.ts';
import { healthState } from './health.ts';
import type { Presence } from './presence.ts';

export interface AgentFilters {
  readonly archived: boolean | null;
  readonly organizations?: readonly string[];
  readonly workspaces?: readonly string[];
  readonly k8s_cluster?: string;
  readonly kind?: readonly string[];
  readonly version?: string;
  readonly online_status?: boolean;
  readonly name_exact?: string;
  readonly search?: string;
}

/** An agent as it is looked at: what is derived (SPEC §6) comes with it. */
export interface AgentView {
  readonly agent: Presence;
  /** The worst of its silence and of what it says of itself; null when it was never heard. */
  readonly state: AppState | null;
  /** Heard from within AGENT_WARNING_AFTER_SECONDS. */
  readonly online: boolean;
  /** The app that deploys this operator; null when none is known, and for other agents. */
  readonly k8s_app: string | null;
}

/** SPEC §6: agents that have registered, by organization, workspace and cluster. */
export async function listAgents(services: EngineServices, filters: AgentFilters, page: PageRequest): Promise<Page<AgentView>> {
  const { archived, k8s_cluster, workspaces, kind, version, online_status, name_exact } = filters;
  const settings = await services.settings.read();
  const now = services.clock.now();
  const search = filters.search?.toLowerCase();
  const found = await readPage<Presence>(
    {
      lanes: fixedLanes(await lanesOf(services, filters)),
      load: (ids) => services.presence.getMany(ids),
      passes: (agent) =>
        isRegistered(agent) &&
        (archived === null || agent.gone === archived) &&
        (workspaces === undefined || workspaces.includes(agent.workspace)) &&
        (k8s_cluster === undefined || agent.k8s_cluster === k8s_cluster) &&
        (kind === undefined || kind.includes(agent.kind)) &&
        (version === undefined || agent.version === version) &&
        (online_status === undefined || isOnline(agent, settings, now) === online_status) &&
        (name_exact === undefined || agent.reported_agent_id === name_exact) &&
        (search === undefined || agent.reported_agent_id.toLowerCase().includes(search)),
    },
    page,
  );
  return { ...found, rows: await viewsOf(services, found.rows, settings, now) };
}

/** A cluster or workspaces of one organization are places of their own: nothing else is read for them. */
async function lanesOf(services: EngineServices, { k8s_cluster, organizations }: AgentFilters) {
  if (k8s_cluster !== undefined) {
    const cluster = await services.objects.get('k8s_cluster', k8s_cluster);
    return cluster === null ? [] : [services.lists.agents(cluster.organization, [cluster.workspace, cluster.id])];
  }
  const all = organizations ?? (await services.objects.listIds('organization', { organization: null, path: [] }, { limit: 10_000 })).ids;
  return all.map((organization) => services.lists.agents(organization, []));
}

export async function getAgent(services: EngineServices, id: string): Promise<AgentView> {
  const [view] = await viewsOf(services, [await find(services, id)], await services.settings.read(), services.clock.now());
  if (view === undefined) throw notFound(`Agent ${id}`);
  return view;
}

/**
 * SPEC §6: for a rebuilt cluster. The next report of any host with a good key binds the agent anew, and the other agents of its cluster with it,
 * which would still answer for the old host. Open runs stay in the inbox. Twice is the same as once.
 */
export async function rebindAgent(services: EngineServices, id: string, actor: string): Promise<AgentView> {
  const agent = await find(services, id);
  for (const bound of [...(await neighboursOf(services, agent)), agent]) {
    const object = { type: 'agent', id: bound.id, organization: bound.organization };
    const values = { before: { cluster_uid: bound.cluster_uid }, after: { cluster_uid: null } };
    const audit = auditOf(services, actor, 'agent.rebind', object, values, services.clock.now());
    if (!(await services.presence.unbind(bound.id, audit))) throw notFound(`Agent ${bound.id}`);
  }
  return getAgent(services, id);
}

async function neighboursOf({ presence }: EngineServices, { id, organization, workspace, k8s_cluster }: Presence): Promise<Presence[]> {
  if (k8s_cluster === null) return [];
  const ids = await presence.listIds({ organization, workspace, k8s_cluster });
  return (await presence.getMany(ids.filter((other) => other !== id))).filter((other) => isRegistered(other) && other.cluster_uid !== null);
}

async function find({ presence }: EngineServices, id: string): Promise<Presence> {
  const agent = await presence.get(id, true);
  if (agent === null || !isRegistered(agent)) throw notFound(`Agent ${id}`);
  return agent;
}

/** A cluster's row is there before its operator is. */
const isRegistered = (agent: Presence): boolean => agent.reported_agent_id !== '';

const liveness = (agent: Presence, settings: SystemSettings, now: Instant): AppState | null =>
  agentState(agent.last_seen, now, settings.AGENT_WARNING_AFTER_SECONDS, settings.AGENT_CRITICAL_AFTER_SECONDS);
const isOnline = (agent: Presence, settings: SystemSettings, now: Instant): boolean => liveness(agent, settings, now) === 'OK';

async function viewsOf(
  services: EngineServices,
  agents: readonly Presence[],
  settings: SystemSettings,
  now: Instant,
): Promise<AgentView[]> {
  const appOf = ({ kind, k8s_cluster }: Presence): string[] =>
    kind === 'operator' && k8s_cluster !== null ? [derivedId.app(services.ids, k8s_cluster, OPERATOR_APP)] : [];
  const apps = await services.objects.getMany('k8s_app', agents.flatMap(appOf));
  return agents.map((agent) => {
    const silence = liveness(agent, settings, now);
    return {
      agent,
      state: silence === null ? null : worst(silence, healthState(agent.health)),
      online: silence === 'OK',
      k8s_app: apps.get(appOf(agent)[0] ?? '')?.id ?? null,
    };
  });
}
