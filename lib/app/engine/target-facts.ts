import { chooseAgent } from '../../domain/agent/choose.ts';
import { agentState, worst } from '../../domain/agent/liveness.ts';
import { stillNeeded } from '../../domain/demand/decide.ts';
import { installedVersion } from '../../domain/demand/installed.ts';
import type { CalendarFacts, TargetFacts } from '../../domain/plan/facts.ts';
import type { Block, K8sApp, K8sCluster, Organization, Workspace } from '../../domain/shared/fleet.ts';
import type { Item, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { Presence } from '../agents/presence.ts';
import { appOfBlock } from '../agents/record-apps.ts';
import { derivedId } from '../derived-ids.ts';
import type { AccessKey, KeyPage } from '../ports.ts';
import type { Ruling } from './configs.ts';
import type { EngineServices } from './services.ts';

/** What is read about the targets of some items, by id. */
export interface TargetRows {
  readonly blocks: ReadonlyMap<string, Block>;
  readonly apps: ReadonlyMap<string, K8sApp>;
  readonly clusters: ReadonlyMap<string, K8sCluster>;
  readonly workspaces: ReadonlyMap<string, Workspace>;
  readonly organizations: ReadonlyMap<string, Organization>;
  readonly presences: ReadonlyMap<string, Presence>;
  /** The same by where they are: a cluster's own, or (under the workspace's id) those bound to no cluster. */
  readonly agentsOf: ReadonlyMap<string, readonly Presence[]>;
  /** Agent keys by organization, read once where somebody misses an agent. */
  readonly keys: Map<string, Promise<readonly AccessKey[]>>;
}

/** The app whose version tells about a block; null for a block of no cluster. */
export const appIdOf = (services: Pick<EngineServices, 'ids'>, block: Pick<Block, 'app' | 'name' | 'k8s_cluster'>): string | null =>
  block.k8s_cluster === null ? null : derivedId.app(services.ids, block.k8s_cluster, appOfBlock(block));

type Where = Pick<Item, 'block' | 'organization' | 'workspace' | 'k8s_cluster'>;

/** Agents by what is asked of them. */
export const agentRows = (all: readonly Presence[]): AgentRows => ({
  presences: new Map(all.map((p) => [p.id, p])),
  agentsOf: Map.groupBy(all, (p) => p.k8s_cluster ?? p.workspace),
  keys: new Map(),
});

/** One BatchGet for what the items name, one for the apps of their blocks. Agents that somebody has read already are not read again. */
export async function readTargets(services: EngineServices, items: readonly Where[], known?: AgentRows): Promise<TargetRows> {
  const { objects, presence, ids } = services;
  const unique = (values: readonly (string | null)[]): string[] => [...new Set(values.filter((v) => v !== null))];
  const clusterIds = unique(items.map((i) => i.k8s_cluster));
  const appsOf = async (): Promise<[ReadonlyMap<string, Block>, ReadonlyMap<string, K8sApp>]> => {
    const blocks = await objects.getMany('block', unique(items.map((i) => i.block)));
    return [blocks, await objects.getMany('k8s_app', unique([...blocks.values()].map((b) => appIdOf(services, b))))];
  };
  const agentsOf = async (): Promise<AgentRows> => {
    const operators = await presence.getMany(clusterIds.map((cluster) => derivedId.operatorAgent(ids, cluster)));
    return agentRows([...operators, ...(await otherAgents(services, items, operators))]);
  };
  const [[blocks, apps], clusters, workspaces, organizations, agents] = await Promise.all([
    appsOf(),
    objects.getMany('k8s_cluster', clusterIds),
    objects.getMany('workspace', unique(items.map((i) => i.workspace))),
    objects.getMany('organization', unique(items.map((i) => i.organization))),
    known ?? agentsOf(),
  ]);
  return {
    blocks,
    apps,
    clusters,
    workspaces,
    organizations,
    ...agents,
  };
}

/** Agents of kind `agent` matter only where no operator has ever reported (SPEC §7). */
async function otherAgents(services: EngineServices, items: readonly Where[], operators: readonly Presence[]): Promise<Presence[]> {
  const served = new Set(operators.filter((p) => p.last_seen !== null).map((p) => p.k8s_cluster));
  const unserved = items.filter((i) => i.k8s_cluster === null || !served.has(i.k8s_cluster));
  const workspaces = new Map(unserved.map((i) => [i.workspace, i.organization]));
  const ids = await Promise.all([...workspaces].map(([workspace, organization]) => services.presence.listIds({ organization, workspace })));
  const known = new Set(operators.map((p) => p.id));
  return services.presence.getMany(ids.flat().filter((id) => !known.has(id)));
}

const isGone = (o: { archived: boolean } | undefined): boolean => o === undefined || o.archived;

/** What the plan, an item's read and the dashboard know of one target. */
export async function targetFactsOf(
  services: EngineServices,
  rows: TargetRows,
  item: Item,
  ruling: Ruling,
  calendar: CalendarFacts,
  maintenance: Instant | null,
  now: Instant,
): Promise<TargetFacts> {
  const block = rows.blocks.get(item.block);
  const cluster = item.k8s_cluster === null ? null : rows.clusters.get(item.k8s_cluster);
  const workspace = rows.workspaces.get(item.workspace);
  const organization = rows.organizations.get(item.organization);
  const clusterGone = cluster !== null && (isGone(cluster) || cluster?.active !== true);
  const appId = block === undefined ? null : appIdOf(services, block);
  const app = appId === null ? null : (rows.apps.get(appId) ?? null);
  const override = cluster?.rollout_override.version_override ?? null;
  const agent = await agentOf(services, rows, item);
  return {
    exists: !isGone(block) && !isGone(workspace) && !isGone(organization) && !clusterGone,
    cli_managed: block?.created_by_component === 'cli',
    demand: stillNeeded({
      item,
      block: block ?? null,
      app,
      allow_downgrade: (ruling.config?.allow_downgrade ?? false) || override !== null,
    }),
    cluster_paused: pauseOf(cluster ?? null, now),
    agent,
    cluster_state: stateOf(rows, agent, app, ruling.settings, now),
    installed: {
      version: installedVersion(block ?? null, app),
      app: block === undefined ? item.block_name : appOfBlock(block),
      reported: app?.last_reconciled != null,
    },
    has_contact: (workspace?.contacts.length ?? 0) + (organization?.contacts.length ?? 0) > 0,
    active_maintenance_until: maintenance,
    calendar,
  };
}

/** SPEC §5: a pause ends by itself at `paused_until`. */
export function pauseOf(cluster: Pick<K8sCluster, 'rollout_override'> | null, now: Instant): TargetFacts['cluster_paused'] {
  const override = cluster?.rollout_override;
  if (override?.paused !== true || (override.paused_until !== null && override.paused_until <= now)) return null;
  return { until: override.paused_until, reason: override.pause_reason };
}

/** The agents that may serve a target, and the keys that they could come with. */
export type AgentRows = Pick<TargetRows, 'presences' | 'agentsOf' | 'keys'>;
type Place = Pick<Item, 'organization' | 'workspace' | 'k8s_cluster'>;

export async function agentOf(services: EngineServices, rows: AgentRows, item: Place): Promise<TargetFacts['agent']> {
  const { workspace, k8s_cluster } = item;
  const agents = [
    ...(rows.agentsOf.get(k8s_cluster ?? workspace) ?? []),
    ...(k8s_cluster === null ? [] : (rows.agentsOf.get(workspace) ?? [])),
  ];
  const choosable = agents
    .filter((p) => !p.gone && !p.revoked)
    .map(({ id, kind, workspace, k8s_cluster, last_seen }) => ({ key: id, kind, workspace, k8s_cluster, last_seen }));
  const chosen = chooseAgent({ workspace, k8s_cluster, has_token: true }, choosable);
  if ('agent' in chosen) {
    const inbox = rows.presences.get(chosen.agent.key)?.inbox ?? {};
    return { key: chosen.agent.key, last_seen: chosen.agent.last_seen, inbox_size: Object.keys(inbox).length };
  }
  return { missing: (await hasToken(services, rows, item)) ? 'operator_config_missing' : 'no_agent_token' };
}

/** SPEC §5: a key for the cluster or for its whole workspace. Only asked where no agent has ever registered. */
async function hasToken(services: EngineServices, rows: AgentRows, { organization, workspace, k8s_cluster }: Place): Promise<boolean> {
  const keys = rows.keys.get(organization) ?? agentKeys(services, organization);
  rows.keys.set(organization, keys);
  return (await keys).some((k) => k.workspace === workspace && (k.k8s_cluster === null || k.k8s_cluster === k8s_cluster));
}

async function agentKeys(services: EngineServices, organization: string): Promise<readonly AccessKey[]> {
  const found: AccessKey[] = [];
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds('access_key', { organization, path: [] }, { limit: 500, cursor });
    found.push(...(await services.objects.getMany('access_key', page.ids)).values());
    cursor = page.cursor;
  } while (cursor !== null);
  return found.filter((k) => k.role === 'agent' && k.revoked_at === null && !k.archived);
}

/** SPEC §5: the worst of app and agent; null when never seen. */
export function stateOf(
  rows: AgentRows,
  agent: TargetFacts['agent'],
  app: Pick<K8sApp, 'state'> | null,
  settings: SystemSettings,
  now: Instant,
): TargetFacts['cluster_state'] {
  const presence = 'key' in agent ? rows.presences.get(agent.key) : undefined;
  const seen = presence?.last_seen ?? null;
  return worst(app?.state ?? null, agentState(seen, now, settings.AGENT_WARNING_AFTER_SECONDS, settings.AGENT_CRITICAL_AFTER_SECONDS));
}
