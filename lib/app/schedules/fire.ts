import { fireProblem, lateReason, missedFire, type NoFire, type Schedule, scheduleOf } from '../../domain/recurrence/schedule.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { demandOf, demandWritten } from '../engine/demands.ts';
import { enqueueRunOf } from '../engine/enqueue-run.ts';
import type { EngineServices } from '../engine/services.ts';
import type { ScheduleState } from './ports.ts';

export type FireOutcome =
  | { readonly fired: true; readonly enqueue_run: string; readonly late: string | null }
  | { readonly fired: false; readonly why: NoFire | 'not_scheduled' };

/** SPEC §4: does the work of one named minute, once however often it is asked for; a minute that is not this config's to do does nothing. */
export async function fireAt(services: EngineServices, config: BlockRolloutConfig, minute: Instant): Promise<FireOutcome> {
  const schedule = scheduleOf(config);
  if (schedule === null) return { fired: false, why: 'not_scheduled' };
  const last = (await services.schedules.many([config.id])).get(config.id)?.last_fire?.due_at ?? null;
  const why = fireProblem(schedule, minute, last, services.clock.now());
  return why === null ? fire(services, config, schedule, minute, last) : { fired: false, why };
}

/** For the tick: the minute that nobody called for, and of several missed ones the latest. */
export async function catchUp(services: EngineServices, config: BlockRolloutConfig, state: ScheduleState | null): Promise<void> {
  const schedule = scheduleOf(config);
  if (schedule === null) return;
  const last = state?.last_fire?.due_at ?? null;
  const missed = missedFire(schedule, last, services.clock.now());
  if (missed !== null) await fire(services, config, schedule, missed, last);
}

async function fire(
  services: EngineServices,
  config: BlockRolloutConfig,
  schedule: Schedule,
  minute: Instant,
  last: Instant | null,
): Promise<FireOutcome> {
  const started_at = services.clock.now();
  const late = lateReason(schedule, minute, last, started_at);
  const id = services.ids.child(config.id, 'schedule', String(minute));
  const demand = demandOf(services, {
    id,
    kind: 'schedule',
    rollout_config: config.id,
    scheduled_for: minute,
    requested_by: 'schedule',
  });
  if (!(await services.schedules.fire(config.id, { due_at: minute, started_at, late }, { ...enqueueRunOf(demand), late })))
    return { fired: false, why: 'done' };
  services.log.info('schedule_fired', { rollout_config: config.id, name: config.name, due_at: minute, late, enqueue_run: id });
  await demandWritten(services, demand);
  return { fired: true, enqueue_run: id, late };
}
