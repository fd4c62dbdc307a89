import { installedVersion } from '../../domain/demand/installed.ts';
import { type K8sCluster, OPERATOR_APP, OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, Item, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Presence } from '../agents/presence.ts';
import { derivedId } from '../derived-ids.ts';
import { operatorConfigId } from '../engine/configs.ts';
import { lacksOperatorVersion } from '../engine/decide-target.ts';
import { renderTarget } from '../engine/render.ts';
import type { EngineServices } from '../engine/services.ts';
import { readTargets, type TargetRows } from '../engine/target-facts.ts';
import { everyOrganization, everyRow } from '../resources/list.ts';

/** What the table says about the operator on every active cluster, read once for a whole answer. */
export interface FleetRows {
  readonly rows: TargetRows;
  /** The few agents that may serve a cluster: its own, and those of its workspace. */
  readonly agentsOf: (cluster: K8sCluster) => ReadonlyMap<string, Presence>;
  readonly clusters: readonly ClusterRow[];
  readonly config: BlockRolloutConfig | null;
  readonly settings: SystemSettings;
  /** What a cluster without an override should have. */
  readonly desired_version: string | null;
}

export interface ClusterRow {
  readonly cluster: K8sCluster;
  readonly block: string;
  readonly installed_version: string | null;
  readonly desired_version: string | null;
  readonly item: Item | null;
}

export async function readFleet(services: EngineServices): Promise<FleetRows> {
  const { objects, settings, ids } = services;
  const [config, now] = await Promise.all([objects.get('block_rollout_config', operatorConfigId(ids), true), settings.read()]);
  const clusters = await activeClusters(services);
  const where = clusters.map((c) => ({
    block: derivedId.block(ids, c.id, OPERATOR_BLOCK),
    organization: c.organization,
    workspace: c.workspace,
    k8s_cluster: c.id,
  }));
  const appIds = clusters.map((c) => derivedId.app(ids, c.id, OPERATOR_APP));
  const [read, ownApps] = await Promise.all([readTargets(services, where), objects.getMany('k8s_app', appIds)]);
  const rows = { ...read, apps: new Map([...ownApps, ...read.apps]) };
  const items = await services.engine.items([...rows.blocks.values()].flatMap((block) => block.active_item ?? []));
  const desired = desiredVersions(services, config, now, rows);
  const described = await Promise.all(
    clusters.map(async (cluster, index) => {
      const block = rows.blocks.get(where[index]?.block ?? '');
      const app = rows.apps.get(appIds[index] ?? '') ?? null;
      return {
        cluster,
        block: where[index]?.block ?? '',
        installed_version: installedVersion(block ?? null, app),
        desired_version: await desired(cluster),
        item: items.get(block?.active_item ?? '') ?? null,
      };
    }),
  );
  return { rows, agentsOf: agentsBy(rows), clusters: described, config, settings: now, desired_version: await desired(null) };
}

/** Asking all agents for each cluster would cost the square of the fleet. */
function agentsBy({ presences }: TargetRows): FleetRows['agentsOf'] {
  const byPlace = new Map<string, [string, Presence][]>();
  for (const [id, presence] of presences) {
    const place = presence.k8s_cluster ?? presence.workspace;
    byPlace.set(place, [...(byPlace.get(place) ?? []), [id, presence]]);
  }
  return ({ id, workspace }) => new Map([...(byPlace.get(id) ?? []), ...(byPlace.get(workspace) ?? [])]);
}

/** Archived and inactive ones, and those of archived owners, get no operator (SPEC §1, §2.8). */
async function activeClusters({ objects }: EngineServices): Promise<K8sCluster[]> {
  const organizations = (await everyOrganization({ objects })).filter((organization) => !organization.archived);
  const parts = await Promise.all(
    organizations.map(async ({ id }) => {
      const where = { organization: id, path: [] };
      const [workspaces, clusters] = await Promise.all([
        everyRow({ objects }, 'workspace', where),
        everyRow({ objects }, 'k8s_cluster', where),
      ]);
      const gone = new Set(workspaces.filter((workspace) => workspace.archived).map((workspace) => workspace.id));
      return clusters.filter((cluster) => cluster.active && !cluster.archived && !gone.has(cluster.workspace));
    }),
  );
  return parts.flat();
}

type Desired = (cluster: K8sCluster | null) => Promise<string | null>;

/**
 * SPEC §5: the override, else the operator config's rendered target. A target that names no cluster, workspace or organization is the same for
 * all and rendered once; null asks for that one.
 */
function desiredVersions(services: EngineServices, config: BlockRolloutConfig | null, settings: SystemSettings, rows: TargetRows): Desired {
  const text = config?.target_version ?? null;
  const particular = text !== null && /\b(cluster|workspace|organization)\b/.test(text);
  const render = async (cluster: K8sCluster | null): Promise<string | null> => {
    if (config === null || text === null || lacksOperatorVersion(services, config, settings)) return null;
    const anyone = cluster ?? [...rows.clusters.values()][0] ?? null;
    const workspace = anyone === null ? undefined : rows.workspaces.get(anyone.workspace);
    const organization = anyone === null ? undefined : rows.organizations.get(anyone.organization);
    if (workspace === undefined || organization === undefined) return settings.OPERATOR_BLOCK_VERSION;
    const rendered = await renderTarget(
      services,
      { ...config, block_config_template: null },
      settings,
      { organization, workspace, cluster: anyone },
      null,
    );
    return rendered.ok ? rendered.target_version : null;
  };
  const shared = particular ? Promise.resolve(settings.OPERATOR_BLOCK_VERSION) : render(null);
  return async (cluster) => cluster?.rollout_override.version_override ?? (particular && cluster !== null ? render(cluster) : shared);
}
