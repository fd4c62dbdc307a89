import type { ClusterPlace } from '../agents/services.ts';
import type { EngineServices } from './services.ts';
import { wakeWave } from './wake.ts';

/** Something that held this cluster's items is over: those parked for one of these reasons are looked at now (DESIGN A7). */
export async function unparkCluster(services: EngineServices, cluster: ClusterPlace, codes: readonly string[]): Promise<void> {
  const items = await services.engine.items(await activeItems(services, cluster), true);
  const waves = new Set<string>();
  for (const item of items.values()) {
    if (item.parked_until === null || !codes.includes(item.park_reason ?? '')) continue;
    const after = { ...item, parked_until: null, park_reason: null, absent_since: null };
    if ((await services.engine.commit({ items: [{ before: item, after }] })).ok) waves.add(item.rollout);
  }
  for (const wave of waves) await wakeWave(services, wave);
}

/** Items that hold the places of a cluster's blocks. */
export async function activeItems(services: EngineServices, cluster: ClusterPlace): Promise<string[]> {
  const where = { organization: cluster.organization, path: [cluster.workspace, cluster.id] };
  const page = await services.objects.listIds('block', where, { limit: 500 });
  const blocks = await services.objects.getMany('block', page.ids);
  return [...blocks.values()].flatMap((b) => b.active_item ?? []);
}
