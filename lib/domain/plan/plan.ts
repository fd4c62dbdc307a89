import type { WaveStatus } from '../shared/rollout.ts';
import type { Instant } from '../shared/time.ts';
import { blockReason } from '../wave/brake.ts';
import { isComplete, isDrained } from '../wave/counters.ts';
import { slotsOf } from '../wave/slots.ts';
import { CANARY_REVIEW } from '../wave/transitions.ts';
import { inOrder, sortOut } from './candidates.ts';
import { choose } from './choose.ts';
import type { Candidate, DispatchOrder, LaneOrder, ParkOrder, Plan, PlanFacts, PlanNext, PlanNumbers, SkipOrder } from './facts.ts';
import { awaitsFirstBatch, numbersOf } from './numbers.ts';
import { isLagging, recheckAt } from './recheck.ts';

interface Orders {
  readonly dispatch: readonly DispatchOrder[];
  readonly park: readonly ParkOrder[];
  readonly lane: readonly LaneOrder[];
  readonly skip: readonly SkipOrder[];
  /** Ready, but outside their window or in a freeze. */
  readonly waiting: readonly Candidate[];
  readonly numbers: PlanNumbers;
}

/**
 * SPEC §3: what to start, what to hold and why, the wave's next state and when to look again. The order in which facts come
 * makes no difference, and a plan that was carried out leaves nothing to order at the same instant.
 */
export function plan(facts: PlanFacts, now: Instant): Plan {
  const change = nextStatus(facts, now);
  const status = change?.to ?? facts.wave.status;
  const candidates = inOrder(facts.candidates, now);
  const orders = ordersFor(facts, status, candidates, now);
  const next = nextStep(facts, status, orders);
  const more = looksForMore(facts, status);
  const starved = next === 'await' && more && !facts.candidates_complete;
  const crowded = placesLeft(facts, orders.numbers) <= 0 && usedByOthers(facts);
  const lagging = more && isLagging(facts, status, candidates);
  const { dispatch, park, lane, skip, waiting, numbers } = orders;
  return {
    next,
    status: change,
    dispatch,
    park,
    lane,
    skip,
    recheck_at: recheckAt({ facts, status, park, waiting, lagging, lookSoon: starved || crowded }, now),
    lag_rounds: lagging ? facts.lag_rounds + 1 : 0,
    numbers,
  };
}

/** Blocking goes before completing, so that a wave above its threshold never counts as done (SPEC §3.5). */
function nextStatus(facts: PlanFacts, now: Instant): Plan['status'] {
  const { wave, rules } = facts;
  if (wave.status !== 'active' && wave.status !== 'paused') return null;
  const reason = blockReason(wave.counters, rules);
  if (reason !== null) return { to: 'blocked', reason };
  if (isComplete(wave, rules.quiescence_seconds, now)) return { to: 'completed', reason: 'all_items_ended' };
  return wave.status === 'active' && firstBatchDone(facts) ? { to: 'paused', reason: CANARY_REVIEW } : null;
}

/** SPEC §3.12: the first max(1, floor(N × p / 100)) items are terminal, and there is something left to hold. */
function firstBatchDone(facts: PlanFacts): boolean {
  const c = facts.wave.counters;
  if (!awaitsFirstBatch(facts) || isDrained(c)) return false;
  return c.done + c.failed >= slotsOf(c.total - c.skipped, facts.rules.max_concurrent_percent);
}

function ordersFor(facts: PlanFacts, status: WaveStatus, candidates: readonly Candidate[], now: Instant): Orders {
  const none = { dispatch: [], park: [], lane: [], skip: [], waiting: [], numbers: numbersOf(facts) };
  if (status === 'completed' || status === 'blocked') return none;
  if (status === 'cancelled') return { ...none, skip: candidates.map(({ item }) => ({ item, reason: 'cancelled' })) };
  const { skip, park, lane, startable, waiting } = sortOut(facts, candidates, now);
  const numbers = numbersOf(facts, skip.length);
  // Skipped items leave the base: the share of failed ones may now be too high, which the next plan acts on.
  const stopped = status !== 'active' || isHeld(facts) || numbers.failed > numbers.max_failed;
  const choice = choose(facts, startable, stopped ? { ...numbers, free: 0 } : numbers, now);
  return { dispatch: choice.dispatch, park: [...park, ...choice.park], lane, skip, waiting, numbers };
}

/** Nothing starts while the platform is paused (SPEC §1) or an enqueue run is still adding (SPEC §3.1). */
function isHeld(facts: PlanFacts): boolean {
  return facts.platform_paused !== null || facts.wave.enqueue_runs.length > 0;
}

/** Whether items that the index does not show yet would make a difference now. */
function looksForMore(facts: PlanFacts, status: WaveStatus): boolean {
  if (status === 'cancelled') return true;
  return status === 'active' && !isHeld(facts) && placesLeft(facts, numbersOf(facts)) > 0;
}

/** Free slots, as far as the operator gate lets more than forced items through. */
function placesLeft(facts: PlanFacts, numbers: PlanNumbers): number {
  const gate = facts.gate === null ? Number.POSITIVE_INFINITY : Math.max(0, facts.gate.places - facts.gate.updating);
  return Math.min(numbers.free, gate);
}

/** Places that other waves hold, and whose end does not wake this one. */
function usedByOthers({ wave, gate, older_in_progress }: PlanFacts): boolean {
  return wave.counters.pending > 0 && (older_in_progress > 0 || (gate !== null && gate.updating > wave.counters.in_progress));
}

function nextStep(facts: PlanFacts, status: WaveStatus, orders: Orders): PlanNext {
  const { pending, in_progress } = facts.wave.counters;
  const moved = orders.skip.length + orders.park.length + orders.lane.length > 0;
  switch (status) {
    case 'completed':
      return 'completed';
    case 'blocked':
      return in_progress > 0 ? 'await' : 'blocked';
    case 'cancelled':
      if (moved) return 'replan';
      return pending + in_progress > 0 ? 'await' : 'cancelled';
    case 'active':
    case 'paused':
      if (orders.dispatch.length > 0) return 'dispatch';
      return moved ? 'replan' : 'await';
  }
}
