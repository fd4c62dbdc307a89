import fc from 'fast-check';
import type { CalendarFacts, Candidate, GateFacts, Plan, PlanFacts, TargetFacts, WaveRules } from '../../lib/domain/plan/facts.ts';
import { calendarOpen } from '../../lib/domain/plan/holds.ts';
import type { Counters, Item, Wave, WaveStatus } from '../../lib/domain/shared/rollout.ts';
import { HOUR, type Instant, MINUTE } from '../../lib/domain/shared/time.ts';
import { agent, calendar, candidate, closed, counters, facts, frozen, NOW, rules, wave } from './plan-facts.ts';

/** Any wave that can be, with what a reader would hand to plan(). */

const CALENDARS: readonly CalendarFacts[] = [
  calendar(),
  calendar({ key: 'open-night', window: { open: true, opens_at: null, closes_at: NOW + HOUR, zone: 'UTC' }, changes_at: NOW + HOUR }),
  closed(NOW + 8 * HOUR),
  frozen(NOW + 24 * HOUR),
  closed(null, { key: 'never' }),
];

const itemParts: fc.Arbitrary<Partial<Item>> = fc.record({
  forced: fc.boolean(),
  override_freeze: fc.boolean(),
  window_bypassed: fc.boolean(),
  criticality: fc.constantFrom('high', 'medium', 'low'),
  enqueued_at: fc.integer({ min: NOW - HOUR, max: NOW }),
  source: fc.constantFrom('scheduler', 'manual'),
  retry_after: fc.constantFrom(null, null, NOW - 1, NOW, NOW + MINUTE),
  absent_since: fc.constantFrom(null, null, NOW - HOUR, NOW - 200 * HOUR),
  parked_until: fc.constantFrom(null, null, NOW - 1),
});

const agents: fc.Arbitrary<TargetFacts['agent']> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({ n: fc.nat(30), silent: fc.constantFrom(0, 0, 0, 179_999, 180_000, 300 * HOUR), inbox_size: fc.constantFrom(0, 0, 0, 7, 8) })
      .map((a) => agent(`agent-${a.n}-${a.inbox_size}-${a.silent}`, { last_seen: NOW - a.silent, inbox_size: a.inbox_size })),
  },
  { weight: 1, arbitrary: fc.constantFrom<TargetFacts['agent']>({ missing: 'no_agent_token' }, { missing: 'operator_config_missing' }) },
);

const targetParts: fc.Arbitrary<Partial<TargetFacts>> = fc.record({
  exists: mostly(true, false),
  cli_managed: mostly(false, true),
  demand: mostly<TargetFacts['demand']>('upgrade', 'up_to_date', 'installed_is_newer'),
  cluster_paused: mostly<TargetFacts['cluster_paused']>(null, { until: null, reason: null }, { until: NOW + HOUR, reason: 'x' }),
  agent: agents,
  cluster_state: mostly<TargetFacts['cluster_state']>('OK', null, 'WARNING', 'CRITICAL'),
  has_contact: fc.boolean(),
  installed: fc.constant({ version: null, app: 'app', reported: true }),
  active_maintenance_until: mostly<Instant | null>(null, NOW, NOW + HOUR),
  calendar: fc.constantFrom(...CALENDARS),
});

const waveRules: fc.Arbitrary<WaveRules> = fc
  .record({
    max_concurrent_percent: fc.integer({ min: 1, max: 100 }),
    failure_threshold_percent: fc.integer({ min: 0, max: 100 }),
    early_brake: fc.boolean(),
    hold_after_first_batch: mostly(false, true),
    park_after_hours: fc.constantFrom(1, 168),
    bypass_maintenance_window: mostly(false, true),
    auto_takeover: fc.boolean(),
  })
  .map(rules);

const gate: fc.Arbitrary<GateFacts | null> = mostly<GateFacts | null>(
  null,
  { places: 0, updating: 0 },
  { places: 3, updating: 1 },
  { places: 1, updating: 4 },
);

const ended = fc.record({ done: fc.nat(20), in_progress: fc.nat(10), failed: fc.nat(10), skipped: fc.nat(5) });

const status: fc.Arbitrary<WaveStatus> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<WaveStatus>('active') },
  { weight: 3, arbitrary: fc.constantFrom<WaveStatus>('paused', 'blocked', 'cancelled') },
);

function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...others) });
}

const someCandidates = fc
  .array(fc.tuple(itemParts, targetParts), { maxLength: 25 })
  .map((all) => all.map(([i, t], n) => candidate(`item-${n}`, { ...i, status: i.retry_after == null ? 'pending' : 'retrying' }, t)));

export const planFacts: fc.Arbitrary<PlanFacts> = fc
  .record({
    all: someCandidates,
    ended,
    status,
    rules: waveRules,
    gate,
    older: fc.constantFrom(0, 0, 0, 2),
    platform_paused: mostly<PlanFacts['platform_paused']>(null, { reason: 'audit' }),
    enqueue_runs: mostly<string[]>([], ['run-1']),
    canary_reviewed: fc.boolean(),
    last_item_added_at: fc.constantFrom(null, NOW, NOW - MINUTE),
  })
  .map((x) => worldOf(x.all, x.ended, x));

type Rest = Pick<PlanFacts, 'rules' | 'gate' | 'platform_paused'> &
  Pick<Wave, 'status' | 'enqueue_runs' | 'canary_reviewed' | 'last_item_added_at'> & { readonly older: number };

function worldOf(all: readonly Candidate[], parts: Partial<Counters>, rest: Rest): PlanFacts {
  const sum = (parts.done ?? 0) + (parts.in_progress ?? 0) + (parts.failed ?? 0) + (parts.skipped ?? 0);
  const { status: s, enqueue_runs, canary_reviewed, last_item_added_at } = rest;
  return facts({
    candidates: all,
    wave: wave({ status: s, enqueue_runs, canary_reviewed, last_item_added_at, counters: counters(all.length + sum, parts) }),
    rules: rest.rules,
    gate: rest.gate === null ? null : { ...rest.gate, updating: Math.max(rest.gate.updating, parts.in_progress ?? 0) },
    older_in_progress: rest.older,
    platform_paused: rest.platform_paused,
  });
}

/** What a reader would find right after the plan was carried out: what left the ready lane is no candidate any more. */
export function carriedOut(before: PlanFacts, p: Plan, now: Instant): PlanFacts {
  const left = new Set([...p.dispatch, ...p.park, ...p.skip].map((o) => o.item.id));
  const lanes = new Map(p.lane.map(({ item, calendar }) => [item.id, { calendar, parked_until: null, park_reason: null }]));
  const rest = before.candidates
    .filter((c) => !left.has(c.item.id))
    .map((c) => withInbox({ ...c, item: { ...c.item, ...lanes.get(c.item.id) } }, p));
  const c = before.wave.counters;
  const k = p.dispatch.length;
  const s = p.skip.length;
  const after: Counters = { ...c, in_progress: c.in_progress + k, skipped: c.skipped + s, pending: c.pending - k - s };
  const parked = [...p.park.map((o) => o.until), ...(before.next_parked_at === null ? [] : [before.next_parked_at])].filter(
    (at) => at > now,
  );
  return {
    ...before,
    candidates: rest,
    calendars: facts({ candidates: rest }).calendars,
    wave: { ...before.wave, counters: after, status: p.status?.to ?? before.wave.status, status_reason: p.status?.reason ?? null },
    gate: before.gate === null ? null : { ...before.gate, updating: before.gate.updating + k },
    next_parked_at: parked.length === 0 ? null : Math.min(...parked),
    lag_rounds: p.lag_rounds,
  };
}

function withInbox(c: Candidate, p: Plan): Candidate {
  if ('missing' in c.target.agent) return c;
  const { key, inbox_size } = c.target.agent;
  const more = p.dispatch.filter((d) => d.agent === key).length;
  return { ...c, target: { ...c.target, agent: { ...c.target.agent, inbox_size: inbox_size + more } } };
}

/** As a reader of the table does it: ready items of open calendars, those that need no window, and what was parked and is due. */
export function readable(f: PlanFacts): PlanFacts {
  const candidates = f.candidates.filter((c) => calendarOpen(f, c.target.calendar) || c.item.forced || c.item.parked_until !== null);
  return { ...f, candidates };
}
