import type { AppState } from '../shared/fleet.ts';
import type { ActionRun, Blocker } from '../shared/rollout.ts';
import { type Instant, MINUTE, SECOND } from '../shared/time.ts';
import { compareVersions } from '../version/compare.ts';

/** A report must show the target within this time after exit code 0 (SPEC §7). */
export const VERIFY_WITHIN = 10 * MINUTE;
const CLAIM_INTERVALS = 3;
const CLAIM_AT_LEAST = 5 * MINUTE;

/** SPEC §7: a run that nobody claimed within 3 report intervals (at least 5 minutes), or before its window closes, is withdrawn. */
export function claimDeadline(dispatched_at: Instant, report_interval_seconds: number, window_closes_at: Instant | null): Instant {
  const by = dispatched_at + Math.max(CLAIM_INTERVALS * report_interval_seconds * SECOND, CLAIM_AT_LEAST);
  return window_closes_at === null ? by : Math.min(by, window_closes_at);
}

export interface VerifyFacts {
  readonly verify_version: boolean;
  readonly action: string;
  readonly target_version: string | null;
  /** The app has been reported by an agent at least once; true for the operator (SPEC §7). */
  readonly app_reported: boolean;
}

/** SPEC §7: an exit code alone is not success where a report can show it. Other actions run without verification (§2.1). */
export function needsVerification(f: VerifyFacts): boolean {
  if (!f.verify_version || !f.app_reported) return false;
  return f.action === 'uninstall' || (f.action === 'install' && f.target_version !== null);
}

export type RunFacts = Pick<
  ActionRun,
  'action' | 'phase' | 'verify' | 'soak_seconds' | 'rendered_target_version' | 'version_at_dispatch' | 'deadline'
>;

/** What to do with an open attempt. `until` becomes its deadline. */
export type RunStep =
  | { readonly kind: 'stay' }
  | { readonly kind: 'verifying' | 'soaking'; readonly until: Instant }
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly reason: 'version_unchanged' | 'soak_failed' | 'exit_code' };

const STAY: RunStep = { kind: 'stay' };

/** The agent has finished: 0 is success, or the beginning of verifying. A run already soaking has its result. */
export function afterExit(run: RunFacts, exit_code: number, now: Instant): RunStep {
  if (run.phase === 'ended') return STAY;
  if (exit_code !== 0) return { kind: 'failed', reason: 'exit_code' };
  if (run.phase === 'verifying' || run.phase === 'soaking') return STAY;
  return run.verify ? { kind: 'verifying', until: now + VERIFY_WITHIN } : { kind: 'completed' };
}

export interface Observation {
  /** A new report of the app: its version, null inside = not installed or unknown. null = nothing new, only time has passed. */
  readonly report: { readonly version: string | null } | null;
  /** State of the target's agent; null when unknown. */
  readonly agent_state: AppState | null;
}

/** SPEC §7 verify_version: what a report, or the passing of time, means for an open attempt. */
export function verificationStep(run: RunFacts, seen: Observation, now: Instant): RunStep {
  if (!run.verify) return STAY;
  switch (run.phase) {
    case 'queued':
    case 'executing':
      // The result message may be lost. What was already so at dispatch proves nothing.
      return shows(run, seen) && !isTarget(run, run.version_at_dispatch) ? confirmed(run, now) : STAY;
    case 'verifying':
      if (shows(run, seen)) return confirmed(run, now);
      return now >= run.deadline ? { kind: 'failed', reason: 'version_unchanged' } : STAY;
    case 'soaking':
      return soak(run, seen, now);
    case 'ended':
      return STAY;
  }
}

function confirmed(run: RunFacts, now: Instant): RunStep {
  return run.soak_seconds > 0 ? { kind: 'soaking', until: now + run.soak_seconds * SECOND } : { kind: 'completed' };
}

/** CRITICAL ends it, anything else that is not OK restarts the clock; a target that went back to another version is no success. */
function soak(run: RunFacts, seen: Observation, now: Instant): RunStep {
  if (seen.agent_state === 'CRITICAL') return { kind: 'failed', reason: 'soak_failed' };
  if (seen.report !== null && seen.report.version !== null && !isTarget(run, seen.report.version)) {
    return { kind: 'failed', reason: 'version_unchanged' };
  }
  if (seen.agent_state !== 'OK') return { kind: 'soaking', until: now + run.soak_seconds * SECOND };
  return now >= run.deadline ? { kind: 'completed' } : STAY;
}

function shows(run: RunFacts, seen: Observation): boolean {
  return seen.report !== null && isTarget(run, seen.report.version);
}

/** Uninstall has reached its target when no version is reported any more (SPEC §2.1). */
function isTarget(run: RunFacts, version: string | null): boolean {
  if (run.action === 'uninstall') return version === null;
  if (version === null || run.rendered_target_version === null) return false;
  return compareVersions(version, run.rendered_target_version, false) === 'up_to_date';
}

/** SPEC §3.8: an item in progress shows `verifying` or `soaking` (until). */
export function progressOf(run: Pick<ActionRun, 'phase' | 'deadline'>): Blocker<'verifying' | 'soaking'> | null {
  if (run.phase !== 'verifying' && run.phase !== 'soaking') return null;
  return { code: run.phase, detail: null, until: run.deadline };
}
