import { progressOf } from '../../domain/action-run/verification.ts';
import { installedVersion } from '../../domain/demand/installed.ts';
import { type Block, type K8sApp, type K8sCluster, OPERATOR_APP, OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { ActionRun, BlockRolloutConfig, Item, SystemSettings } from '../../domain/shared/rollout.ts';
import { derivedId } from '../derived-ids.ts';
import { calendarKey } from '../engine/calendars.ts';
import { operatorConfigId } from '../engine/configs.ts';
import { lacksOperatorVersion } from '../engine/decide-target.ts';
import { renderTargets, settingsContext } from '../engine/render.ts';
import type { EngineServices } from '../engine/services.ts';
import { type AgentRows, readTargets, type TargetRows } from '../engine/target-facts.ts';
import { BOARD_ITEM, type BoardItem, type ClusterFacts } from './board.ts';

/** What is the same for every cluster. */
export interface OperatorTarget {
  readonly config: BlockRolloutConfig | null;
  readonly settings: SystemSettings;
  /** What a cluster without an override should have; where the target names clusters, the settings' version stands for it. */
  readonly desired_version: string | null;
  /** The target must be rendered for each cluster. */
  readonly particular: boolean;
}

/** Read fresh: it costs two reads, whatever the fleet. */
export async function readOperatorTarget(services: EngineServices): Promise<OperatorTarget> {
  const { objects, ids } = services;
  const [config, settings] = await Promise.all([
    objects.get('block_rollout_config', operatorConfigId(ids), true),
    services.settings.read(),
  ]);
  const text = config?.target_version ?? null;
  if (config === null || text === null || lacksOperatorVersion(services, config, settings))
    return { config, settings, desired_version: null, particular: false };
  const particular = /\b(cluster|workspace|organization)\b/.test(text);
  const desired_version = particular ? settings.OPERATOR_BLOCK_VERSION : await sharedTarget(services, config, settings);
  return { config, settings, desired_version, particular };
}

/** SPEC §5: the override, else the operator config's target. */
export const desiredVersion = (target: OperatorTarget, { override, own_target }: ClusterFacts): string | null =>
  override.version_override ?? (target.particular ? own_target : target.desired_version);

/** A target that names no cluster, workspace or organization needs none. */
async function sharedTarget(services: EngineServices, config: BlockRolloutConfig, settings: SystemSettings): Promise<string | null> {
  const shared = { system_config: settingsContext(settings) };
  const jobs = [{ kind: 'text', template: config.target_version ?? '', context: {} }] as const;
  const [rendered] = await services.renderer.render({ shared, jobs });
  const version = rendered?.ok === true ? String(rendered.value).trim() : '';
  return version === '' ? null : version;
}

export interface ReadFacts {
  readonly facts: readonly ClusterFacts[];
  /** Asked for, but without a row: gone, archived, inactive, or of an archived owner (SPEC §1, §2.8). */
  readonly without: readonly string[];
  readonly rows: TargetRows;
}

/** The facts about some clusters, by BatchGet. */
export async function readFacts(
  services: EngineServices,
  target: OperatorTarget,
  clusters: readonly string[],
  agents?: AgentRows,
): Promise<ReadFacts> {
  const { objects, ids } = services;
  const found = await objects.getMany('k8s_cluster', clusters);
  const where = [...found.values()].map((cluster) => ({
    block: derivedId.block(ids, cluster.id, OPERATOR_BLOCK),
    organization: cluster.organization,
    workspace: cluster.workspace,
    k8s_cluster: cluster.id,
  }));
  const rows = await readTargets(services, where, agents);
  const apps = await withOperatorApps(services, rows, found.keys());
  const items = await services.engine.items([...rows.blocks.values()].flatMap((block) => block.active_item ?? []));
  // What is read too early here stays on the board until the next sign of the agent.
  const runs = await services.engine.runs(
    [...items.values()].flatMap((item) => runOf(item) ?? []),
    true,
  );
  const shown = [...found.values()].filter((cluster) => isShown(cluster, rows));
  const own = await ownTargets(services, target, rows, shown);
  const facts = shown.map((cluster) => {
    const block = rows.blocks.get(derivedId.block(ids, cluster.id, OPERATOR_BLOCK)) ?? null;
    const app = apps.get(derivedId.app(ids, cluster.id, OPERATOR_APP)) ?? null;
    const item = items.get(block?.active_item ?? '') ?? null;
    const run = runs.get(runOf(item) ?? '') ?? null;
    return factsOf(target, { cluster, rows, block, app, item, run, own_target: own.get(cluster.id) ?? null });
  });
  const seen = new Set(shown.map(({ id }) => id));
  return { facts, without: clusters.filter((id) => !seen.has(id)), rows };
}

/** The apps of the blocks, and the operator's app of a cluster that has no block for it. */
async function withOperatorApps(
  { objects, ids }: EngineServices,
  { apps }: TargetRows,
  clusters: Iterable<string>,
): Promise<ReadonlyMap<string, K8sApp>> {
  const missing = [...clusters].map((cluster) => derivedId.app(ids, cluster, OPERATOR_APP)).filter((id) => !apps.has(id));
  return new Map([...apps, ...(await objects.getMany('k8s_app', missing))]);
}

function isShown(cluster: K8sCluster, { workspaces, organizations }: TargetRows): boolean {
  const owners = [workspaces.get(cluster.workspace), organizations.get(cluster.organization)];
  return cluster.active && !cluster.archived && owners.every((owner) => owner?.archived === false);
}

interface Read {
  readonly cluster: K8sCluster;
  readonly rows: TargetRows;
  readonly block: Block | null;
  readonly app: K8sApp | null;
  readonly item: Item | null;
  readonly run: ActionRun | null;
  readonly own_target: string | null;
}

function factsOf(target: OperatorTarget, { cluster, rows, block, app, item, run, own_target }: Read): ClusterFacts {
  const [workspace, organization] = [rows.workspaces.get(cluster.workspace), rows.organizations.get(cluster.organization)];
  const remembered = block?.remembered[target.config?.id ?? ''];
  return {
    cluster_id: cluster.id,
    cluster: cluster.name,
    workspace_id: cluster.workspace,
    workspace: workspace?.name ?? '',
    organization_id: cluster.organization,
    organization: organization?.name ?? '',
    override: cluster.rollout_override,
    installed_version: installedVersion(block, app),
    app_state: app?.state ?? null,
    cli_managed: block?.created_by_component === 'cli',
    has_contact: (workspace?.contacts.length ?? 0) + (organization?.contacts.length ?? 0) > 0,
    calendar: calendarKey(workspace, organization),
    own_target,
    failure: remembered?.outcome === 'failed' ? { target_version: remembered.target_version } : null,
    item: item === null ? null : boardItem(item),
    progress: run === null ? null : progressOf(run),
  };
}

/** One page of templates for all of them; none where one target is everybody's. */
async function ownTargets(
  services: EngineServices,
  { config, settings, particular }: OperatorTarget,
  { workspaces, organizations }: TargetRows,
  clusters: readonly K8sCluster[],
): Promise<ReadonlyMap<string, string | null>> {
  if (config === null || !particular) return new Map();
  const targets = clusters.flatMap((cluster) => {
    const [workspace, organization] = [workspaces.get(cluster.workspace), organizations.get(cluster.organization)];
    return workspace === undefined || organization === undefined ? [] : [{ target: { organization, workspace, cluster }, override: null }];
  });
  const rendered = await renderTargets(services, { ...config, block_config_template: null }, settings, targets);
  return new Map(rendered.map((one, index) => [targets[index]?.target.cluster.id ?? '', one.ok ? one.target_version : null]));
}

const runOf = (item: Item | null): string | null => (item?.status === 'in_progress' ? item.action_run : null);

const boardItem = (item: Item): BoardItem => Object.fromEntries(BOARD_ITEM.map((field) => [field, item[field]])) as unknown as BoardItem;
