import type { Item } from '../../domain/shared/rollout.ts';
import type { Demand } from '../ports.ts';
import { type EnqueueRun, enqueueRunOf } from './enqueue-run.ts';
import type { EngineServices } from './services.ts';

/** A demand with nothing narrowed down: every reconciliation config, all its targets. */
export function demandOf(services: Pick<EngineServices, 'ids' | 'clock'>, part: Partial<Demand>): Demand {
  return {
    id: services.ids.fresh(),
    kind: 'reconcile',
    rollout_config: null,
    clusters: [],
    workspaces: [],
    organizations: [],
    scheduled_for: null,
    created_at: services.clock.now(),
    allow_downgrade: false,
    requested_by: null,
    ...part,
  };
}

/** The demand's row was committed with its cause: starts the work. A start that fails is made up for by the tick (SPEC §2.9). */
export async function demandWritten(services: EngineServices, demand: Pick<Demand, 'id'>): Promise<void> {
  try {
    await services.workflows.startEnqueue({ enqueue_run: demand.id, generation: 1 });
  } catch (error) {
    services.log.warn('enqueue_start_failed', { enqueue_run: demand.id, error: String(error) });
  }
}

/** Writes a demand that has no other cause to ride with, and starts it. A demand of the same id is the same work: nothing happens. */
export async function raiseDemand(services: EngineServices, demand: Demand, extra: Partial<EnqueueRun> = {}): Promise<boolean> {
  const fresh = await services.engine.putEnqueueRun({ ...enqueueRunOf(demand), ...extra }, null);
  if (fresh) await demandWritten(services, demand);
  return fresh;
}

/** SPEC §2.7: the item's target is looked at again; by its own config too where that one waits for a fire to look. */
export async function demandsForItem(
  services: EngineServices,
  item: Pick<Item, 'k8s_cluster' | 'workspace' | 'id' | 'rollout_config'>,
): Promise<Demand[]> {
  const where = item.k8s_cluster === null ? { workspaces: [item.workspace] } : { clusters: [item.k8s_cluster] };
  const requested_by = `item ${item.id}`;
  const own = demandOf(services, { ...where, requested_by });
  const config = item.rollout_config === null ? null : await services.objects.get('block_rollout_config', item.rollout_config);
  if (config?.trigger_type !== 'schedule') return [own];
  return [own, demandOf(services, { ...where, kind: 'schedule', rollout_config: config.id, requested_by })];
}
