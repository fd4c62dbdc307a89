import type { Counters, Limits } from '../shared/rollout.ts';
import { baseOf } from './counters.ts';
import { isAboveThreshold } from './failure.ts';

/** Normal quantile of a two-sided 95 % interval. */
const Z = 1.959963984540054;
/** With fewer finished items a share says nothing (SPEC §3.5). */
const MIN_FINISHED = 5;

/** Lower bound of the 95 % Wilson interval of failed / finished, 0–1. */
export function wilsonLower(failed: number, finished: number): number {
  // Without failures the bound is exactly 0; computed, it can come out a hair above, which threshold 0 would take for a failure.
  if (finished <= 0 || failed <= 0) return 0;
  const p = failed / finished;
  const z2 = Z * Z;
  const middle = p + z2 / (2 * finished);
  const spread = Z * Math.sqrt((p * (1 - p) + z2 / (4 * finished)) / finished);
  return Math.max(0, (middle - spread) / (1 + z2 / finished));
}

/** SPEC §3.5 `early_brake`: at least 5 items have finished and the lower bound is above the threshold. */
export function earlyBrake(failed: number, finished: number, threshold: number): boolean {
  return finished >= MIN_FINISHED && wilsonLower(failed, finished) * 100 > threshold;
}

export type BlockReason = 'failure_threshold' | 'early_brake';
export type BlockRules = Pick<Limits, 'failure_threshold_percent'> & { readonly early_brake: boolean };

/** Why a wave with these counters must not start anything; null when it may (SPEC §3.5). Plan, resume and retry ask this. */
export function blockReason(c: Counters, rules: BlockRules): BlockReason | null {
  if (isAboveThreshold(c.failed, baseOf(c), rules.failure_threshold_percent)) return 'failure_threshold';
  const finished = c.done + c.failed;
  return rules.early_brake && earlyBrake(c.failed, finished, rules.failure_threshold_percent) ? 'early_brake' : null;
}

/** How many failed items must at least be retried before the wave is no longer blocked (SPEC §3.5, the answer to retry). */
export function excessFailures(c: Counters, rules: BlockRules): number {
  let excess = 0;
  let left = c;
  while (left.failed > 0 && blockReason(left, rules) !== null) {
    excess += 1;
    left = { ...left, failed: left.failed - 1, pending: left.pending + 1 };
  }
  return excess;
}
