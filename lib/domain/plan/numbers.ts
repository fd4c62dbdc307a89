import type { Counters } from '../shared/rollout.ts';
import { baseOf } from '../wave/counters.ts';
import { maxFailed } from '../wave/failure.ts';
import { freeSlots, slotsOf } from '../wave/slots.ts';
import type { PlanFacts, PlanNumbers } from './facts.ts';

export type NumberFacts = Pick<PlanFacts, 'wave' | 'rules' | 'gate' | 'older_in_progress'>;

/** The numbers of a decision (SPEC §3.4, §3.5, §5); `skips` are items that this plan ends skipped and that leave the base. */
export function numbersOf(facts: NumberFacts, skips = 0): PlanNumbers {
  const { wave, rules, gate } = facts;
  const counters = afterSkips(wave.counters, skips);
  const base = baseOf(counters);
  const slots = slotsOf(base, rules.max_concurrent_percent);
  const use = { slots, in_progress: counters.in_progress, older_in_progress: facts.older_in_progress };
  return {
    ...use,
    free: Math.min(freeSlots(use), firstBatchLeft(facts, counters, slots)),
    gate_places: gate?.places ?? null,
    gate_updating: gate?.updating ?? null,
    failed: counters.failed,
    base,
    threshold_percent: rules.failure_threshold_percent,
    max_failed: maxFailed(base, rules.failure_threshold_percent),
  };
}

/** SPEC §3.12: a wave that is looked at after its first batch starts no more than that batch before. */
export function awaitsFirstBatch(facts: Pick<PlanFacts, 'wave' | 'rules'>): boolean {
  return facts.rules.hold_after_first_batch && !facts.wave.canary_reviewed;
}

function firstBatchLeft(facts: NumberFacts, c: Counters, batch: number): number {
  if (!awaitsFirstBatch(facts)) return Number.POSITIVE_INFINITY;
  return Math.max(0, batch - c.done - c.failed - c.in_progress);
}

function afterSkips(c: Counters, skips: number): Counters {
  return { ...c, pending: c.pending - skips, skipped: c.skipped + skips };
}
