import { dispatchKey } from '../item/order.ts';
import type { Blocker, BlockerCode } from '../shared/rollout.ts';
import { HOUR, type Instant, MINUTE } from '../shared/time.ts';
import type { Candidate, LaneOrder, ParkOrder, PlanFacts, SkipOrder } from './facts.ts';
import { holdsOf, inMaintenance } from './holds.ts';

/** How long something that ends by nobody knows when is left alone; the event that ends it unparks it at once. */
export const LOOK_AGAIN = 5 * MINUTE;

/** Held by something of the item's own: it leaves the ready lane, so that it never holds up another (SPEC §3.8). */
const PARKING: ReadonlySet<BlockerCode> = new Set(['cluster_paused', 'agent_missing', 'agent_silent', 'cluster_critical', 'retry_backoff']);
/** Held for everybody alike: it stays ready and is not read while closed. */
const STAYING: ReadonlySet<BlockerCode> = new Set(['window_closed', 'freeze']);
/** A person holds it, so its absence is not what it waits for (SPEC §3.12). */
const BY_PERSON: ReadonlySet<BlockerCode> = new Set(['platform_paused', 'cluster_paused', 'wave_paused', 'canary_review']);

export interface Sorted {
  readonly skip: SkipOrder[];
  readonly park: ParkOrder[];
  readonly lane: LaneOrder[];
  /** Nothing of their own holds these; in order of dispatch. */
  readonly startable: Candidate[];
  /** Ready, but outside their window or in a freeze. */
  readonly waiting: Candidate[];
}

/** Each item that still waits once, in order of dispatch (SPEC §3.7), whatever order they came in. */
export function inOrder(candidates: readonly Candidate[], now: Instant): Candidate[] {
  const newest = new Map<string, Candidate>();
  for (const c of candidates) {
    // An index may still show what has moved on.
    if (c.item.status !== 'pending' && c.item.status !== 'retrying') continue;
    const known = newest.get(c.item.id);
    if (known === undefined || c.item.version > known.item.version) newest.set(c.item.id, c);
  }
  const keyed = [...newest.values()].map((c) => ({ c, key: dispatchKey({ ...c.item, in_maintenance: inMaintenance(c.target, now) }) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ c }) => c);
}

/** What becomes of each candidate as far as it alone is concerned; slots and gate come after. */
export function sortOut(facts: PlanFacts, candidates: readonly Candidate[], now: Instant): Sorted {
  const sorted: Sorted = { skip: [], park: [], lane: [], startable: [], waiting: [] };
  for (const candidate of candidates) {
    const holds = holdsOf(facts, candidate, now);
    const absentSince = absence(candidate, holds, now);
    const reason = skipReason(facts, candidate, absentSince, now);
    const parking = holds.filter((h) => PARKING.has(h.code));
    if (reason !== null) sorted.skip.push({ item: candidate.item, reason });
    else if (parking.length > 0) sorted.park.push(parkOrder(facts, candidate, parking, absentSince, now));
    else if (holds.some((h) => STAYING.has(h.code))) {
      if (isInLane(candidate)) sorted.waiting.push(candidate);
      else sorted.lane.push({ item: candidate.item, calendar: candidate.target.calendar.key });
    } else sorted.startable.push(candidate);
  }
  return sorted;
}

const isInLane = ({ item, target }: Candidate): boolean => item.parked_until === null && item.calendar === target.calendar.key;

/** Why an item ends without an attempt; null when it goes on (SPEC §2.3, §2.7, §2.8, §3.12). */
function skipReason(facts: PlanFacts, { item, target }: Candidate, absentSince: Instant | null, now: Instant): string | null {
  if (!target.exists) return 'target_gone';
  if (target.cli_managed && !facts.rules.auto_takeover) return 'cli_managed';
  if (target.demand === 'installed_is_newer') return 'installed_is_newer';
  if (target.demand === 'up_to_date' && !item.forced && item.source !== 'manual') return 'already_at_target';
  return absentSince !== null && now >= absentUntil(facts, absentSince) ? 'target_absent' : null;
}

function absentUntil(facts: PlanFacts, since: Instant): Instant {
  return since + facts.rules.park_after_hours * HOUR;
}

/**
 * SPEC §3.12: since when the item is held by a silent or missing agent and by nothing that a person decided. Windows, slots and
 * CRITICAL (which follows from silence) do not stop this clock: the agent would be missing then too. A report since restarts it.
 */
function absence({ item, target }: Candidate, holds: readonly Blocker[], now: Instant): Instant | null {
  if (!holds.some((h) => h.code === 'agent_silent' || h.code === 'agent_missing')) return null;
  if (holds.some((h) => BY_PERSON.has(h.code))) return null;
  if (item.absent_since === null) return now;
  return 'missing' in target.agent || target.agent.last_seen <= item.absent_since ? item.absent_since : now;
}

function parkOrder(facts: PlanFacts, { item }: Candidate, holds: readonly Blocker[], absent: Instant | null, now: Instant): ParkOrder {
  const times = holds.map((h) => (h.until !== null && h.until > now ? h.until : now + LOOK_AGAIN));
  if (absent !== null) times.push(absentUntil(facts, absent));
  return { item, until: Math.min(...times), reason: holds[0]?.code ?? 'agent_silent', absent_since: absent };
}
