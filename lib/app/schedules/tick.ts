import { type Schedule, scheduleOf } from '../../domain/recurrence/schedule.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { allConfigs } from '../engine/config-list.ts';
import type { EngineServices } from '../engine/services.ts';
import { catchUp } from './fire.ts';
import type { ScheduleState } from './ports.ts';
import { isTold, tellScheduler } from './tell-scheduler.ts';

/**
 * SPEC §4, DESIGN §5: fires that nobody called for are caught up, and the scheduler is told what it does not know. The cost follows the number of
 * configs, whatever waits in their waves.
 */
export async function scheduleTick(services: EngineServices): Promise<void> {
  const configs = (await allConfigs(services)).filter((config) => config.kind === 'trigger');
  const states = await services.schedules.many(configs.map((config) => config.id));
  for (const config of configs) await guarded(services, config.id, () => catchUp(services, config, states.get(config.id) ?? null));
  await repairSchedules(services, configs, states);
}

/** What the notes say, and what the scheduler itself says when it can be asked. */
async function repairSchedules(
  services: EngineServices,
  configs: readonly BlockRolloutConfig[],
  states: ReadonlyMap<string, ScheduleState>,
): Promise<void> {
  const now = services.clock.now();
  const wanted = new Map<string, Schedule>();
  const untold = new Set<string>();
  for (const config of configs) {
    const schedule = scheduleOf(config);
    if (schedule !== null) wanted.set(config.id, schedule);
    if (!isTold(services.scheduler, schedule, states.get(config.id) ?? null, now)) untold.add(config.id);
  }
  const different = await services.scheduler.differences(wanted).catch((error: unknown): readonly string[] => {
    services.log.warn('schedules_not_listed', { error: String(error) });
    return [];
  });
  for (const id of new Set([...untold, ...different]))
    await guarded(services, id, () => tellScheduler(services, id, different.includes(id)));
}

async function guarded(services: EngineServices, config: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    services.log.error('schedule_tick_failed', { rollout_config: config, error: String(error) });
  }
}
