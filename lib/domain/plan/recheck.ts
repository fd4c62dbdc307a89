import { laneCalendar } from '../item/lane.ts';
import type { WaveStatus } from '../shared/rollout.ts';
import { DAY, type Instant, MINUTE, SECOND } from '../shared/time.ts';
import { isDrained, quietAt } from '../wave/counters.ts';
import type { Candidate, ParkOrder, PlanFacts } from './facts.ts';
import { calendarOpen } from './holds.ts';

const LONGEST = DAY;
/** Nothing is looked at more often by itself. */
const SHORTEST = SECOND;
const LAG_FIRST_SECONDS = 2;
const LAG_LONGEST_SECONDS = 30;
/** An enqueue run wakes the wave when it ends; this is for one that died. */
const ENQUEUE_LOOK_AGAIN = 5 * MINUTE;
const SOON = MINUTE;

/** Indexes lag behind the counters: true when fewer waiting items were seen than the counters name (DESIGN §4). */
export function isLagging(facts: PlanFacts, status: WaveStatus, candidates: readonly Candidate[]): boolean {
  if (!facts.candidates_complete) return false;
  // A cancelled wave is shown everything that still waits, whatever its calendar.
  if (status === 'cancelled') return candidates.length < facts.wave.counters.pending;
  const open = new Map(facts.calendars.filter((c) => calendarOpen(facts, c)).map((c) => [c.key, c.ready]));
  let expected = 0;
  for (const ready of open.values()) expected += ready;
  const seen = candidates.filter((c) => c.item.parked_until === null && open.has(laneCalendar(c.item))).length;
  return seen < expected || hidesParked(facts, candidates);
}

/** The counters name parked items, and the lane shows none: without a time of theirs, nobody would look again. */
function hidesParked({ wave, calendars, next_parked_at }: PlanFacts, candidates: readonly Candidate[]): boolean {
  const parked = calendars.reduce((left, { ready }) => left - ready, wave.counters.pending);
  return parked > 0 && next_parked_at === null && candidates.every((c) => c.item.parked_until === null);
}

export interface RecheckFacts {
  readonly facts: PlanFacts;
  /** What the wave is after this plan. */
  readonly status: WaveStatus;
  readonly park: readonly ParkOrder[];
  readonly waiting: readonly Candidate[];
  readonly lagging: boolean;
  /** Places depend on somebody else's work, or candidates were cut and none of them could move. */
  readonly lookSoon: boolean;
}

/** The earliest of everything that can change by itself, at most a day away (SPEC §12 I8). */
export function recheckAt(r: RecheckFacts, now: Instant): Instant {
  const times = r.status === 'active' || r.status === 'paused' ? changesOf(r, now) : [];
  // Who ends an attempt wakes the wave, but may die before it does.
  if (r.facts.wave.counters.in_progress > 0) times.push(now + SOON);
  if (r.lagging) times.push(now + lagSeconds(r.facts.lag_rounds) * SECOND);
  let earliest = now + LONGEST;
  for (const at of times) if (at !== null && at < earliest) earliest = at;
  return Math.max(earliest, now + SHORTEST);
}

function changesOf({ facts, park, waiting, lookSoon }: RecheckFacts, now: Instant): (Instant | null)[] {
  const times = [facts.next_parked_at, facts.next_fact_change_at, quietEnd(facts, now)];
  for (const c of facts.calendars) if (c.ready > 0) times.push(c.changes_at);
  for (const c of waiting) times.push(c.target.calendar.changes_at);
  for (const order of park) times.push(order.until);
  if (lookSoon) times.push(now + SOON);
  if (facts.wave.enqueue_runs.length > 0) times.push(now + ENQUEUE_LOOK_AGAIN);
  return times;
}

/** 2, 4, 8, 16, 30, 30 … seconds. */
function lagSeconds(rounds: number): number {
  return Math.min(LAG_LONGEST_SECONDS, LAG_FIRST_SECONDS * 2 ** Math.min(Math.max(0, rounds), 10));
}

function quietEnd({ wave, rules }: PlanFacts, now: Instant): Instant | null {
  if (!isDrained(wave.counters)) return null;
  const at = quietAt(wave.last_item_added_at, wave.created_at, rules.quiescence_seconds);
  return at > now ? at : null;
}
