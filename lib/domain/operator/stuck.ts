import { HOUR, type Instant } from '../shared/time.ts';

const STUCK_AFTER = 24 * HOUR;

export interface StuckFacts {
  readonly out_of_date: boolean;
  /** When its item last moved (enqueued, dispatched, retried, ended); null when nothing was ever tried. */
  readonly last_progress_at: Instant | null;
  /** Since when nothing has held it; null while something does, so that waiting for a window is never stuck (SPEC §4). */
  readonly gates_open_since: Instant | null;
}

/** SPEC §5: out of date and no progress for 24 h while its gates were open. */
export function isStuck(f: StuckFacts, now: Instant): boolean {
  if (!f.out_of_date || f.gates_open_since === null) return false;
  return now - Math.max(f.gates_open_since, f.last_progress_at ?? f.gates_open_since) >= STUCK_AFTER;
}
