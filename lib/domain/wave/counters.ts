import type { Counters } from '../shared/rollout.ts';
import { type Instant, SECOND } from '../shared/time.ts';

/** What is stored of a wave's counters: numbers that each write moves by a balanced amount. */
export interface StoredCounters {
  readonly total: number;
  /** Attempts ever started and ever ended; both only grow. */
  readonly started: number;
  readonly ended: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
}

/** SPEC §3.3: in progress and pending are derived, so that the sum adds up whatever was lost in between. */
export function countersOf(s: StoredCounters): Counters {
  const in_progress = s.started - s.ended;
  const pending = s.total - in_progress - s.done - s.failed - s.skipped;
  return { total: s.total, done: s.done, in_progress, pending, failed: s.failed, skipped: s.skipped };
}

/** Total = Done + In Progress + Pending + Failed + Skipped, and nothing below zero (SPEC §3.3, I3). */
export function addsUp(c: Counters): boolean {
  const parts = [c.done, c.in_progress, c.pending, c.failed, c.skipped];
  return parts.every((n) => n >= 0) && parts.reduce((a, b) => a + b, 0) === c.total;
}

/** N of slots and failure rate: `total − skipped` (SPEC §3.4, §3.5). */
export function baseOf(c: Counters): number {
  return c.total - c.skipped;
}

/** Every item is terminal. */
export function isDrained(c: Counters): boolean {
  return c.in_progress === 0 && c.pending === 0;
}

/** When the quiet time after the last added item (else after the wave was made) is over. */
export function quietAt(last_item_added_at: Instant | null, created_at: Instant, quiescence_seconds: number): Instant {
  return (last_item_added_at ?? created_at) + quiescence_seconds * SECOND;
}

export function isQuiet(now: Instant, last_item_added_at: Instant | null, created_at: Instant, quiescence_seconds: number): boolean {
  return now >= quietAt(last_item_added_at, created_at, quiescence_seconds);
}

export interface CompletionFacts {
  readonly status: string;
  readonly counters: Counters;
  readonly last_item_added_at: Instant | null;
  readonly created_at: Instant;
  readonly enqueue_runs: readonly string[];
}

/** SPEC §3.2: active or paused, everything terminal, nobody adding, and quiet for long enough. */
export function isComplete(w: CompletionFacts, quiescence_seconds: number, now: Instant): boolean {
  if (w.status !== 'active' && w.status !== 'paused') return false;
  if (w.enqueue_runs.length > 0 || !isDrained(w.counters)) return false;
  return isQuiet(now, w.last_item_added_at, w.created_at, quiescence_seconds);
}
