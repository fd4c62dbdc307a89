import type { BlockRolloutConfig } from '../shared/rollout.ts';
import { type Instant, MINUTE, SECOND } from '../shared/time.ts';
import { type Cron, parseCron } from './cron.ts';
import { firesAt, latestFire, nextFires } from './fires.ts';
import { localClock, localDate } from './local-text.ts';

/** SPEC §2.2, §4: when a config fires. Preview, trigger and catch-up ask here and nowhere else. */

/** The times of a config that fires. */
export interface Schedule {
  readonly cron: Cron;
  readonly time_zone: string;
  /** A fire at or before this instant is not this schedule's: the config was made, activated or given other times then. */
  readonly since: Instant;
}

type Config = Omit<BlockRolloutConfig, 'version'>;

/** How long the scheduler's call is waited for before the tick makes up for it. */
export const CALL_PATIENCE = MINUTE;
/** From this delay on a fire is recorded as late. */
const LATE_AFTER = 2 * MINUTE;
/** A call that comes so much before its minute is one of a clock that goes ahead of ours. */
const CLOCK_SKEW = 10 * SECOND;

/** null for a config that does not fire: of another kind or trigger, inactive or archived. */
export function scheduleOf(config: Config): Schedule | null {
  const { kind, trigger_type, active, archived, cron_expression, time_zone } = config;
  if (kind !== 'trigger' || trigger_type !== 'schedule' || !active || archived || cron_expression === null) return null;
  const parsed = parseCron(cron_expression);
  return parsed.ok ? { cron: parsed.cron, time_zone, since: config.schedule_since ?? config.updated_at } : null;
}

/** The next fires; none of a config that does not fire. */
export function upcomingFires(config: Config, now: Instant, count: number): readonly Instant[] {
  const schedule = scheduleOf(config);
  return schedule === null ? [] : nextFires(schedule.cron, schedule.time_zone, now, count);
}

/** A config that begins to fire, or fires at other times, does so from now on: never for a time that has passed (SPEC §4). */
export function scheduledFrom<T extends Config>(before: Config | null, after: T, now: Instant): T {
  if (scheduleOf(after) === null) return after;
  const goesOn =
    before !== null &&
    scheduleOf(before) !== null &&
    before.cron_expression === after.cron_expression &&
    before.time_zone === after.time_zone;
  return { ...after, schedule_since: goesOn ? before.schedule_since : now };
}

export type NoFire = 'not_named' | 'before_its_time' | 'before_the_schedule' | 'done' | 'a_later_one_is_due';

/** Whether a call for this minute is a fire; `last` is the latest minute that was done. Only the latest of several missed ones is (SPEC §4). */
export function fireProblem({ cron, time_zone, since }: Schedule, minute: Instant, last: Instant | null, now: Instant): NoFire | null {
  if (!firesAt(cron, time_zone, minute)) return 'not_named';
  if (minute > now + CLOCK_SKEW) return 'before_its_time';
  if (minute <= since) return 'before_the_schedule';
  if (last !== null && minute <= last) return 'done';
  return latestFire(cron, time_zone, minute, now - CALL_PATIENCE) === null ? null : 'a_later_one_is_due';
}

/** The fire that nobody called for: the latest of those whose call has been waited for, unless it was done. */
export function missedFire({ cron, time_zone, since }: Schedule, last: Instant | null, now: Instant): Instant | null {
  return latestFire(cron, time_zone, Math.max(since, last ?? since), now - CALL_PATIENCE);
}

/**
 * `late: due 2026-11-27T22:00Z`, of a fire that starts long after its minute or stands for earlier ones that were missed; null when it is in time.
 * `last` is the fire before it.
 */
export function lateReason({ cron, time_zone, since }: Schedule, due: Instant, last: Instant | null, started: Instant): string | null {
  const missed = latestFire(cron, time_zone, Math.max(since, last ?? since), due - 1) !== null;
  if (started - due < LATE_AFTER && !missed) return null;
  return `late: due ${localDate(due, 'UTC')}T${localClock(due, 'UTC')}Z${missed ? ' (earlier fires were missed)' : ''}`;
}
