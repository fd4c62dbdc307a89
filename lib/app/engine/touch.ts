import type { Item } from '../../domain/shared/rollout.ts';
import type { Change } from './after-change.ts';
import { isOperatorBlock, operatorConfigId } from './configs.ts';
import type { EngineServices } from './services.ts';

/** Stands for all clusters: the next tick reads every fact again. */
export const EVERY_CLUSTER = '*';

/** Somebody has changed something about this cluster: its row is looked at anew (DESIGN A4). Best effort, a later tick shows it in any case. */
export async function touchCluster({ board, log }: Pick<EngineServices, 'board' | 'log'>, cluster: string): Promise<void> {
  await board.touch(cluster).catch((error: unknown) => log.warn('cluster_not_touched', { k8s_cluster: cluster, error: String(error) }));
}

/** The same for an item; only the operator's have a place in the row. */
export async function touchItem(services: EngineServices, { block_name, k8s_cluster }: Item): Promise<void> {
  if (isOperatorBlock(block_name) && k8s_cluster !== null) await touchCluster(services, k8s_cluster);
}

/** Fields that a row or what holds it follows from; `name` = the object is new. */
const RELEVANT: { readonly [T in Change['type']]?: readonly string[] } = {
  k8s_cluster: ['name', 'rollout_override', 'active', 'archived'],
  block: ['name', 'installed_version', 'created_by_component', 'archived'],
  k8s_app: ['name', 'installed_version', 'state', 'archived'],
  workspace: ['contacts', 'maintenance_window', 'archived'],
  organization: ['contacts', 'maintenance_window', 'archived'],
  block_rollout_config: ['target_version', 'active', 'archived'],
};

/** What a committed change of an object concerns. */
export async function touchChanged(services: EngineServices, { type, id, fields }: Change): Promise<void> {
  const relevant = RELEVANT[type] ?? [];
  if (!fields.some((field) => relevant.some((name) => field === name || field.startsWith(`${name}.`)))) return;
  if (type === 'k8s_cluster') return touchCluster(services, id);
  if (type === 'block' || type === 'k8s_app') {
    const cluster = (await services.objects.get(type, id))?.k8s_cluster ?? null;
    if (cluster !== null) await touchCluster(services, cluster);
    return;
  }
  const isOwner = type === 'workspace' || type === 'organization';
  if (isOwner || id === operatorConfigId(services.ids)) await touchCluster(services, EVERY_CLUSTER);
}
