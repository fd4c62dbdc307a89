import { MINUTE } from '../../domain/shared/time.ts';
import { scheduleTick } from '../schedules/tick.ts';
import { activeConfigs } from './config-list.ts';
import { demandOf, raiseDemand } from './demands.ts';
import { endPauses } from './end-pauses.ts';
import { restartEnqueue } from './executions.ts';
import { rekeyMaintenances } from './rekey-maintenances.ts';
import type { EngineServices } from './services.ts';
import { rescueWave } from './wake.ts';

/** Waves and enqueue runs of one tick; what is left is due at the next. */
const MOST = 200;

/** The engine's part of the minute tick (safety layer 3, SPEC §2.9): everything in it can be doubled, missed or cut short. */
export async function engineTick(services: EngineServices): Promise<void> {
  const now = services.clock.now();
  const [waves, runs] = await Promise.all([services.engine.dueWaves(now, MOST), services.engine.dueEnqueueRuns(now, MOST)]);
  for (const run of runs) await guarded(services, 'enqueue_restart', () => restartEnqueue(services, run));
  for (const wave of waves) await guarded(services, 'wave_rescue', () => rescueWave(services, wave));
  await guarded(services, 'pauses', () => endPauses(services));
  await guarded(services, 'maintenances', () => rekeyMaintenances(services));
  await guarded(services, 'schedules', () => scheduleTick(services));
  await guarded(services, 'resync', () => resync(services));
}

/** One fault does not keep the rest of the tick from its work; it is in the log, and the next tick tries again. */
async function guarded(services: EngineServices, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    services.metrics.count('TickFailures');
    services.log.error('tick_step_failed', { step: what, error: String(error) });
  }
}

/**
 * SPEC §2.9: every reconciliation config is looked at in full at least once in RESYNC_MINUTES. The run is named after the config and the
 * stretch of time, so that a doubled tick changes nothing and a missed one is caught up.
 */
async function resync(services: EngineServices): Promise<void> {
  const settings = await services.settings.read();
  const slot = Math.floor(services.clock.now() / (settings.RESYNC_MINUTES * MINUTE));
  for (const config of (await activeConfigs(services)).filter((c) => c.trigger_type === 'reconciliation')) {
    const id = services.ids.child(config.id, 'resync', String(slot));
    await raiseDemand(services, { ...demandOf(services, { kind: 'resync', rollout_config: config.id, requested_by: 'resync' }), id });
  }
}
