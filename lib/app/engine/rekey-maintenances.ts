import type { Maintenance } from '../../domain/shared/fleet.ts';
import type { Item } from '../../domain/shared/rollout.ts';
import { isActive } from './maintenances.ts';
import type { EngineServices } from './services.ts';
import { activeItems } from './unpark.ts';
import { wakeWave } from './wake.ts';

/**
 * SPEC §3.7: items of clusters in maintenance go first. Which ones these are changes when a maintenance starts or ends: their place in the ready
 * lane is written anew then (DESIGN A7). Each maintenance remembers what was done for it, so that a tick costs nothing while nothing changes.
 */
export async function rekeyMaintenances(services: EngineServices): Promise<void> {
  const now = services.clock.now();
  for (const { maintenance, marked } of await services.engine.unsettledMaintenances()) {
    const active = isActive(maintenance, now);
    if (active !== marked) await mark(services, maintenance, active);
    const over = maintenance.archived || maintenance.draft || maintenance.end <= now;
    if (active !== marked || over) await services.engine.settleMaintenance(maintenance.id, active, over);
  }
}

async function mark(services: EngineServices, maintenance: Maintenance, active: boolean): Promise<void> {
  const waves = new Set<string>();
  for (const cluster of await clustersOf(services, maintenance)) {
    const items = await services.engine.items(await activeItems(services, cluster), true);
    for (const item of items.values()) if (await rekey(services, item, active)) waves.add(item.rollout);
  }
  for (const wave of waves) await wakeWave(services, wave);
}

async function rekey(services: EngineServices, item: Item, in_maintenance: boolean): Promise<boolean> {
  if (item.in_maintenance === in_maintenance || (item.status !== 'pending' && item.status !== 'retrying')) return false;
  return (await services.engine.commit({ items: [{ before: item, after: { ...item, in_maintenance } }] })).ok;
}

async function clustersOf(services: EngineServices, m: Maintenance) {
  const ids = [...m.k8s_clusters];
  const workspaces = await services.objects.getMany('workspace', m.workspaces);
  const places = [...workspaces.values()].map((w) => ({ organization: w.organization, path: [w.id] }));
  if (m.k8s_clusters.length + m.workspaces.length === 0) {
    const organizations =
      m.organization === null
        ? (await services.objects.listIds('organization', { organization: null, path: [] }, { limit: 1000 })).ids
        : [m.organization];
    places.push(...organizations.map((organization) => ({ organization, path: [] })));
  }
  for (const where of places) {
    let cursor: string | null = null;
    do {
      const page: { ids: readonly string[]; cursor: string | null } = await services.objects.listIds('k8s_cluster', where, {
        limit: 500,
        cursor,
      });
      ids.push(...page.ids);
      cursor = page.cursor;
    } while (cursor !== null);
  }
  return (await services.objects.getMany('k8s_cluster', ids)).values();
}
