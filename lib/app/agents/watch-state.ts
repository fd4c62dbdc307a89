import type { SystemSettings } from '../../domain/shared/rollout.ts';
import { HOUR, type Instant, SECOND } from '../../domain/shared/time.ts';
import type { Notice } from '../ports.ts';

/** What one look at all agents leaves for the next. */
export interface WatchState {
  /** Grows with each look; the condition of the next. 0 = nobody has looked yet. */
  readonly revision: number;
  readonly checked_at: Instant | null;
  readonly alert: Alert | null;
}

/** The platform alert (SPEC §6): so many fell silent at once that the listener is the suspect. */
export interface Alert {
  readonly since: Instant;
  readonly ended_at: Instant | null;
}

export interface WatchStore {
  read(): Promise<WatchState>;
  /** With its notices, or nothing: false when somebody else has looked meanwhile. */
  write(before: WatchState, after: Omit<WatchState, 'revision'>, notices: readonly Notice[]): Promise<boolean>;
}

/** SPEC §6: no deadline fires during the alert nor for AGENT_CRITICAL_AFTER beyond it: agents must have had time to report. */
export function deadlinesSuspended(state: WatchState, settings: SystemSettings, now: Instant): boolean {
  if (state.alert === null) return false;
  return state.alert.ended_at === null || now < state.alert.ended_at + settings.AGENT_CRITICAL_AFTER_SECONDS * SECOND;
}

const HEARD_BEFORE = HOUR;

/** The alert lasts while more than half of those heard from within the hour before it are still silent. */
export function alertLasts(alert: Alert, last_seen: Iterable<Instant>, silent_after_seconds: number, now: Instant): boolean {
  let heard = 0;
  let silent = 0;
  for (const at of last_seen) {
    if (at <= alert.since - HEARD_BEFORE) continue;
    heard += 1;
    if (now - at >= silent_after_seconds * SECOND) silent += 1;
  }
  return silent * 2 > heard;
}
