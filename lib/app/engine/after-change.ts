import { effectiveCriticality } from '../../domain/item/criticality.ts';
import type { K8sCluster } from '../../domain/shared/fleet.ts';
import type { Item } from '../../domain/shared/rollout.ts';
import type { KeyPage, ObjectType } from '../ports.ts';
import { tellScheduler } from '../schedules/tell-scheduler.ts';
import { skipped } from './apply-plan.ts';
import { allConfigs } from './config-list.ts';
import { systemConfigId } from './configs.ts';
import { endAttempt } from './end-attempt.ts';
import { rekeyMaintenances } from './rekey-maintenances.ts';
import { releaseBlock } from './release-block.ts';
import type { EngineServices } from './services.ts';
import { requestStop } from './stop-running.ts';
import { pauseOf } from './target-facts.ts';
import { activeItems, unparkCluster } from './unpark.ts';
import { wakeGate, wakeWave, wakeWavesOf } from './wake.ts';

export interface Change {
  readonly type: ObjectType | 'settings';
  readonly id: string;
  /** Names of the fields (settings: keys) that are different now. */
  readonly fields: readonly string[];
}

/**
 * What a committed change means for waves under way (SPEC §1: a change in mid-wave takes effect at the next decision and never stops running
 * work). Best effort: each of these is also found by the next look at the wave.
 */
export async function afterChange(services: EngineServices, change: Change): Promise<void> {
  switch (change.type) {
    case 'settings':
      return wakeAll(services);
    case 'block_rollout_config':
      await tellScheduler(services, change.id);
      return change.id === systemConfigId(services.ids) ? wakeAll(services) : wakeWavesOf(services, change.id);
    case 'k8s_cluster':
      return clusterChanged(services, change.id, change.fields);
    case 'workspace':
    case 'organization':
      return ownerChanged(services, change.type, change.id, change.fields);
    case 'block':
      return blockChanged(services, change.id);
    case 'maintenance_window':
      return wakeAll(services);
    case 'maintenance':
      return rekeyMaintenances(services);
    default:
      return;
  }
}

/** What counts for the whole platform concerns every wave, also those of configs that start nothing new any more. */
async function wakeAll(services: EngineServices): Promise<void> {
  const configs = await allConfigs(services);
  await Promise.all([null, ...configs.map((c) => c.id)].map((config) => wakeWavesOf(services, config)));
}

async function clusterChanged(services: EngineServices, id: string, fields: readonly string[]): Promise<void> {
  const cluster = await services.objects.get('k8s_cluster', id, true);
  if (cluster === null) return;
  if (cluster.archived || !cluster.active) return targetsGone(services, cluster);
  if (!fields.some((f) => f.startsWith('rollout_override') || f === 'active' || f === 'archived')) return;
  if (pauseOf(cluster, services.clock.now()) === null) await unparkCluster(services, cluster, ['cluster_paused']);
  await wakeGate(services);
}

/** SPEC §2.8: a target that disappears ends its items `target_gone`; what runs is cancelled and its slot is free at once. */
export async function targetsGone(services: EngineServices, cluster: Pick<K8sCluster, 'id' | 'organization' | 'workspace'>): Promise<void> {
  await itemsGone(services, await activeItems(services, cluster));
}

async function blockChanged(services: EngineServices, id: string): Promise<void> {
  const block = await services.objects.get('block', id, true);
  if (block?.archived === true && block.active_item !== null) await itemsGone(services, [block.active_item]);
}

async function itemsGone(services: EngineServices, ids: readonly string[]): Promise<void> {
  for (const item of (await services.engine.items(ids, true)).values()) await itemGone(services, item);
}

async function itemGone(services: EngineServices, item: Item): Promise<void> {
  const now = services.clock.now();
  const run = item.action_run === null || item.status !== 'in_progress' ? null : await services.engine.run(item.action_run);
  if (run !== null) {
    await requestStop(services, run);
    await endAttempt(services, { run_id: run.id, attempt: run.attempt, outcome: { kind: 'gone' } });
    return;
  }
  if (item.status !== 'pending' && item.status !== 'retrying') return;
  const reason = 'target_gone';
  await services.engine.commit({
    items: [{ before: item, after: skipped(item, reason, now) }],
    blocks: [releaseBlock(item, { outcome: 'skipped', reason })],
  });
  await wakeWave(services, item.rollout);
}

/**
 * Archived: its clusters are gone. Another criticality: waiting items get another place (DESIGN A7). Another window needs no such walk: it is
 * looked up where calendars are evaluated.
 */
async function ownerChanged(
  services: EngineServices,
  type: 'workspace' | 'organization',
  id: string,
  fields: readonly string[],
): Promise<void> {
  const owner = await services.objects.get(type, id, true);
  if (fields.includes('maintenance_window')) await wakeAll(services);
  if (owner === null || !fields.some((f) => f === 'archived' || f === 'criticality')) return;
  const where =
    type === 'organization'
      ? { organization: id, path: [] }
      : { organization: (owner as { organization?: string }).organization ?? null, path: [id] };
  const waves = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds('k8s_cluster', where, { limit: 200, cursor });
    for (const cluster of (await services.objects.getMany('k8s_cluster', page.ids)).values()) {
      if (owner.archived) await targetsGone(services, cluster);
      else for (const wave of await rekeyItems(services, cluster)) waves.add(wave);
    }
    cursor = page.cursor;
  } while (cursor !== null);
  for (const wave of waves) await wakeWave(services, wave);
}

async function rekeyItems(services: EngineServices, cluster: K8sCluster): Promise<string[]> {
  const [workspace, organization] = await Promise.all([
    services.objects.get('workspace', cluster.workspace, true),
    services.objects.get('organization', cluster.organization, true),
  ]);
  const criticality = effectiveCriticality(workspace?.criticality ?? null, organization?.criticality ?? null);
  const waves: string[] = [];
  for (const item of (await services.engine.items(await activeItems(services, cluster), true)).values()) {
    if (item.criticality === criticality || (item.status !== 'pending' && item.status !== 'retrying')) continue;
    if ((await services.engine.commit({ items: [{ before: item, after: { ...item, criticality } }] })).ok) waves.push(item.rollout);
  }
  return waves;
}
