import { type Schedule, scheduleOf } from '../../domain/recurrence/schedule.ts';
import { DAY, type Instant } from '../../domain/shared/time.ts';
import type { EngineServices } from '../engine/services.ts';
import type { Scheduler } from '../ports.ts';
import type { ScheduleState } from './ports.ts';

/** Changes by hand on the scheduler's side that no list shows are undone by telling it everything again once a day. */
const TELL_AGAIN = DAY;
/** The config changed while the scheduler was being told; more often than this somebody else is telling it, too. */
const ROUNDS = 3;

/** What the scheduler should know about a config, in one word; null = it should have no schedule. */
const fingerprint = (scheduler: Scheduler, schedule: Schedule | null): string | null =>
  schedule === null ? null : JSON.stringify([scheduler.revision, schedule.cron.text, schedule.time_zone]);

/** Is what the scheduler was told what it should know? */
export function isTold(scheduler: Scheduler, schedule: Schedule | null, state: ScheduleState | null, now: Instant): boolean {
  const should = fingerprint(scheduler, schedule);
  if ((state?.problem ?? null) !== null || should !== (state?.told ?? null)) return false;
  return should === null || now - (state?.told_at ?? 0) < TELL_AGAIN;
}

/**
 * DESIGN §5: makes, changes or removes the schedule of a config, from the config as it is now. It never fails for the scheduler's sake: the config
 * is saved, what went wrong is noted beside it, the tick tries again, and until then it also makes up for the calls.
 */
export async function tellScheduler(services: EngineServices, config: string, force = false): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    const before = await services.objects.get('block_rollout_config', config, true);
    const schedule = before === null ? null : scheduleOf(before);
    const state = (await services.schedules.many([config])).get(config) ?? null;
    if (!force && round === 1 && isTold(services.scheduler, schedule, state, services.clock.now())) return;
    if (!(await tell(services, config, schedule))) return;
    // Somebody changed the config meanwhile and may have been overtaken: what it is now must be the last word.
    const after = await services.objects.get('block_rollout_config', config, true);
    if ((after?.version ?? null) === (before?.version ?? null)) return;
  }
}

async function tell(services: EngineServices, config: string, schedule: Schedule | null): Promise<boolean> {
  const { scheduler, clock, log } = services;
  const times = { cron_expression: schedule?.cron.text ?? null, time_zone: schedule?.time_zone ?? null };
  try {
    if (schedule === null) await scheduler.remove(config);
    else await scheduler.put(config, schedule);
  } catch (error) {
    const problem = `${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`.slice(0, 500);
    log.warn('schedule_not_told', { rollout_config: config, ...times, error: problem });
    await services.schedules.noteTold(config, { told: null, told_at: null, problem });
    return false;
  }
  await services.schedules.noteTold(config, { told: fingerprint(scheduler, schedule), told_at: clock.now(), problem: null });
  log.info('schedule_told', { rollout_config: config, ...times });
  return true;
}
