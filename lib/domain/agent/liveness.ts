import type { AppState } from '../shared/fleet.ts';
import { HOUR, type Instant, type Millis, SECOND } from '../shared/time.ts';

/** SPEC §6: derived from the server's receive time, never stored. Never seen has no state: missing is not 1970. */
export function agentState(last_seen: Instant | null, now: Instant, warning_s: number, critical_s: number): AppState | null {
  if (last_seen === null) return null;
  const silent = now - last_seen;
  if (silent >= critical_s * SECOND) return 'CRITICAL';
  return silent >= warning_s * SECOND ? 'WARNING' : 'OK';
}

const BADNESS: Readonly<Record<AppState, number>> = { OK: 0, WARNING: 1, CRITICAL: 2 };

/** The worst of the states that are known; null when none is (SPEC §5, §6). */
export function worst(...states: readonly (AppState | null)[]): AppState | null {
  let result: AppState | null = null;
  for (const state of states) {
    if (state !== null && (result === null || BADNESS[state] > BADNESS[result])) result = state;
  }
  return result;
}

const MIN_SILENT = 10;
const HEARD_WITHIN: Millis = HOUR;

export interface SilenceCheck {
  /** When each agent was last heard; never-seen ones are left out. */
  readonly last_seen: Iterable<Instant>;
  /** The check before this one. */
  readonly previous_check: Instant;
  readonly silent_after_seconds: number;
}

export interface MassSilence {
  readonly alert: boolean;
  /** Agents that became silent since the previous check. */
  readonly fell: number;
  /** Agents heard from within the last hour. */
  readonly heard: number;
}

/**
 * SPEC §6: when at least 10 agents, and more than half of those heard from within the last hour, fall silent within one
 * check, the listener is the suspect. Asked with the warning limit, the alert stands before the first downtime would open.
 */
export function massSilence(check: SilenceCheck, now: Instant): MassSilence {
  let fell = 0;
  let heard = 0;
  for (const at of check.last_seen) {
    const silentAt = at + check.silent_after_seconds * SECOND;
    if (silentAt > check.previous_check && silentAt <= now) fell += 1;
    if (at > now - HEARD_WITHIN) heard += 1;
  }
  return { alert: fell >= MIN_SILENT && fell * 2 > heard, fell, heard };
}
