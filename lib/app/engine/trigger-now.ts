import type { BlockRolloutConfig, Wave } from '../../domain/shared/rollout.ts';
import { conflict, notFound } from '../errors.ts';
import { auditOf } from './audit.ts';
import { demandOf } from './demands.ts';
import { enqueuePage } from './enqueue-page.ts';
import { finishEnqueue, planPages } from './enqueue-pages.ts';
import { enqueueRunOf } from './enqueue-run.ts';
import { countInScope } from './scope-count.ts';
import type { EngineServices } from './services.ts';
import { wakeWave } from './wake.ts';
import { itemsOf } from './wave-items.ts';

export interface TriggerAnswer {
  readonly wave: Wave | null;
  readonly enqueued: number;
  readonly already_active: number;
}

/** SPEC §3.10: one manual wave for the targets without an active item; what waits already may start outside its window. */
export async function triggerNow(
  services: EngineServices,
  id: string,
  options: { expected_targets?: number },
  actor: string,
): Promise<TriggerAnswer> {
  const config = await services.objects.get('block_rollout_config', id, true);
  if (config === null) throw notFound(`Rollout config ${id}`);
  refuse(config);
  if (options.expected_targets !== undefined) {
    const targets = await countInScope(services, config);
    if (targets !== options.expected_targets)
      throw conflict(`${targets} targets are in scope, not ${options.expected_targets}; nothing was started.`);
  }
  await bypassWindows(services, config.id);
  const manual_wave = services.ids.fresh();
  const demand = demandOf(services, { kind: 'manual', rollout_config: config.id, requested_by: actor });
  await services.engine.putEnqueueRun({ ...enqueueRunOf(demand), manual_wave }, null);
  const now = services.clock.now();
  const audit = auditOf(
    services,
    actor,
    'config.trigger_now',
    { type: 'block_rollout_config', id, organization: null },
    { before: null, after: { enqueue_run: demand.id } },
    now,
  );
  await services.engine.commit({ audits: [audit] });
  const sum = await runNow(services, demand.id);
  return { wave: (await services.engine.wave(manual_wave))?.wave ?? null, ...sum };
}

function refuse(config: BlockRolloutConfig): void {
  if (config.kind === 'config') throw conflict(`Rollout config "${config.name}" holds default settings (kind config); it starts nothing.`);
  if (!config.active || config.archived)
    throw conflict(`Rollout config "${config.name}" is ${config.archived ? 'archived' : 'inactive'}; activate it first.`);
}

/** In the request itself, so that the answer can say what came of it; what a crash leaves is taken up by the tick. */
async function runNow(services: EngineServices, enqueue_run: string): Promise<{ enqueued: number; already_active: number }> {
  const execution = 'request';
  const sum = { enqueued: 0, already_active: 0 };
  for (;;) {
    const { pages } = await planPages(services, { enqueue_run, execution });
    for (const page of pages) {
      const part = await enqueuePage(services, { enqueue_run, execution, page });
      sum.enqueued += part.enqueued;
      sum.already_active += part.unchanged;
    }
    if ((await finishEnqueue(services, { enqueue_run, execution })).next === 'done') return sum;
  }
}

async function bypassWindows(services: EngineServices, config: string): Promise<void> {
  for (const wave of await services.engine.runningWavesOfConfig(config)) {
    const waiting = (item: { status: string; window_bypassed: boolean }): boolean =>
      !item.window_bypassed && (item.status === 'pending' || item.status === 'retrying');
    for await (const items of itemsOf(services, { id: wave }, waiting))
      await Promise.all(
        items.map((item) => services.engine.commit({ items: [{ before: item, after: { ...item, window_bypassed: true } }] })),
      );
    await wakeWave(services, wave);
  }
}
