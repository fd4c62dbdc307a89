import { describe, expect, it } from 'vitest';
import type { Candidate, Plan, PlanFacts } from '../../../../lib/domain/plan/facts.ts';
import { plan } from '../../../../lib/domain/plan/plan.ts';
import { HOUR, MINUTE, SECOND } from '../../../../lib/domain/shared/time.ts';
import { agent, candidate, candidates, closed, counters, facts, frozen, NOW, rules, wave } from '../../../support/plan-facts.ts';

const started = (p: Plan) => p.dispatch.map((d) => d.item.id);
const parked = (p: Plan) => p.park.map((o) => [o.item.id, o.reason, o.until - NOW]);
const skipped = (p: Plan) => p.skip.map((o) => [o.item.id, o.reason]);
const percent = (max_concurrent_percent: number) => rules({ max_concurrent_percent });
const planned = (parts: Partial<PlanFacts>, now = NOW) => plan(facts(parts), now);
/** A wave of which only these candidates wait. */
const withCounts = (all: readonly Candidate[], parts: Parameters<typeof counters>[1], total: number) => ({
  candidates: all,
  wave: wave({ counters: counters(total, parts) }),
});

describe('slots (SPEC §3.4)', () => {
  it('B01 one percent of ten starts one', () => {
    const p = planned({ candidates: candidates(10), rules: percent(1) });
    expect(started(p)).toHaveLength(1);
    expect(p.next).toBe('dispatch');
    expect(p.numbers).toMatchObject({ slots: 1, in_progress: 0, free: 1, base: 10 });
  });

  it('B01 one of one is started', () => {
    expect(started(planned({ candidates: candidates(1), rules: percent(1) }))).toHaveLength(1);
  });

  it('B06 raised: only the new places are filled; lowered: nothing starts until enough have ended', () => {
    const rest = candidates(14);
    expect(started(planned({ ...withCounts(rest, { in_progress: 2, done: 4 }, 20), rules: percent(30) }))).toHaveLength(4);
    for (const in_progress of [6, 5, 4, 3, 2]) {
      expect(started(planned({ ...withCounts(rest, { in_progress, done: 6 - in_progress }, 20), rules: percent(10) }))).toEqual([]);
    }
    expect(started(planned({ ...withCounts(rest, { in_progress: 1, done: 5 }, 20), rules: percent(10) }))).toHaveLength(1);
  });

  it('what still runs in older waves is subtracted', () => {
    const p = planned({ candidates: candidates(10), rules: percent(50), older_in_progress: 3 });
    expect(started(p)).toHaveLength(2);
    expect(p.numbers).toMatchObject({ slots: 5, older_in_progress: 3, free: 2 });
  });

  it('skipped items leave the base', () => {
    expect(planned({ ...withCounts(candidates(10), { skipped: 10 }, 20), rules: percent(50) }).numbers).toMatchObject({
      slots: 5,
      base: 10,
    });
  });

  it('items skipped by this very plan leave the base too', () => {
    const all = [...candidates(5), ...[1, 2, 3, 4, 5].map((n) => candidate(`gone-${n}`, {}, { exists: false }))];
    const p = planned({ candidates: all, rules: percent(40) });
    expect(started(p)).toHaveLength(2);
    expect(p.skip).toHaveLength(5);
  });

  it('nothing starts when those skips put the share of failed ones above the threshold', () => {
    const all = [candidate('ok'), candidate('gone', {}, { exists: false })];
    const p = planned({ ...withCounts(all, { failed: 1, done: 2 }, 5), rules: rules({ failure_threshold_percent: 20 }) });
    expect([started(p), skipped(p), p.next]).toEqual([[], [['gone', 'target_gone']], 'replan']);
  });
});

describe('the operator gate (SPEC §5)', () => {
  const operator = (gate: PlanFacts['gate'], all = candidates(8)) => planned({ candidates: all, gate });

  it('B02 no place: nothing starts, however many slots; then 25 of 8 is two', () => {
    expect(started(operator({ places: 0, updating: 0 }))).toEqual([]);
    expect(started(operator({ places: 2, updating: 0 }))).toHaveLength(2);
    expect(started(operator({ places: 2, updating: 1 }))).toHaveLength(1);
    expect(started(operator({ places: 2, updating: 5 }))).toEqual([]);
  });

  it('forced ones pass it and count in it', () => {
    const all = [candidate('f1', { forced: true }), candidate('f2', { forced: true }), candidate('a'), candidate('b')];
    expect(started(operator({ places: 0, updating: 4 }, all))).toEqual(['f1', 'f2']);
    expect(started(operator({ places: 3, updating: 0 }, all))).toEqual(['f1', 'f2', 'a']);
  });

  it('looks again soon while other waves hold the places, whose end does not wake this one', () => {
    expect(operator({ places: 2, updating: 2 }).recheck_at).toBe(NOW + MINUTE);
    expect(operator({ places: 0, updating: 0 }).recheck_at).toBe(NOW + 24 * HOUR);
  });
});

describe('order, and who is passed over (SPEC §3.7, §3.8)', () => {
  it('B62 high, medium, low; a fresh Maintenance goes first', () => {
    const all = [
      candidate('low', { criticality: 'low' }),
      candidate('medium'),
      candidate('high', { criticality: 'high' }),
      candidate('maintained', { criticality: 'low' }, { active_maintenance_until: NOW + HOUR }),
    ];
    expect(started(planned({ candidates: all }))).toEqual(['maintained', 'high', 'medium', 'low']);
  });

  it('a held item never holds up another', () => {
    const silent = candidate('a-silent', { criticality: 'high' }, { agent: agent('x', { last_seen: NOW - HOUR }) });
    const p = planned({ candidates: [silent, candidate('b'), candidate('c')], rules: percent(34) });
    expect(started(p)).toEqual(['b']);
    expect(parked(p)).toEqual([['a-silent', 'agent_silent', 5 * MINUTE]]);
  });

  it('B25 in maintenance and silent: passed over until heard from', () => {
    const m = (last_seen: number) =>
      candidate(
        'm',
        {},
        {
          active_maintenance_until: NOW + HOUR,
          cluster_state: last_seen < NOW - HOUR ? 'CRITICAL' : 'OK',
          agent: agent('m', { last_seen }),
        },
      );
    const h1 = candidate('h1', {}, { active_maintenance_until: NOW + HOUR });
    const h2 = candidate('h2');
    expect(started(planned({ candidates: [h2, m(NOW - 2 * HOUR), h1], rules: percent(33) }))).toEqual(['h1']);
    expect(started(planned({ candidates: [h2, m(NOW)], rules: percent(100) }))).toEqual(['m', 'h2']);
  });

  it('an item shown twice, or one that has moved on, is started once or not at all', () => {
    const a = candidate('a');
    const done = candidate('done', { status: 'completed' });
    expect(started(planned({ candidates: [a, a, done], wave: wave({ counters: counters(3, { done: 1 }) }) }))).toEqual(['a']);
  });

  it('a block gets one run, whatever an index shows', () => {
    const all = [candidate('a', { block: 'same' }), candidate('b', { block: 'same' })];
    expect(started(planned({ candidates: all }))).toEqual(['a']);
  });

  it('an agent gets no more than its inbox holds; the rest looks again in a minute', () => {
    const all = ['a', 'b', 'c'].map((id) => candidate(id, {}, { agent: agent('shared', { inbox_size: 7 }) }));
    const p = planned({ candidates: [...all, candidate('d')] });
    expect(started(p)).toEqual(['a', 'd']);
    expect(parked(p)).toEqual([
      ['b', 'no_free_slot', MINUTE],
      ['c', 'no_free_slot', MINUTE],
    ]);
  });
});

describe('parking (SPEC §3.8)', () => {
  it.each([
    ['a paused cluster, until it resumes', {}, { cluster_paused: { until: NOW + 7 * HOUR, reason: null } }, 'cluster_paused', 7 * HOUR],
    ['a paused cluster without an end', {}, { cluster_paused: { until: null, reason: null } }, 'cluster_paused', 5 * MINUTE],
    ['a missing agent', {}, { agent: { missing: 'no_agent_token' } }, 'agent_missing', 5 * MINUTE],
    ['a silent agent', {}, { agent: agent('x', { last_seen: NOW - HOUR }) }, 'agent_silent', 5 * MINUTE],
    ['a CRITICAL cluster', {}, { cluster_state: 'CRITICAL' }, 'cluster_critical', 5 * MINUTE],
    ['a retry, until it is due', { status: 'retrying', retry_after: NOW + 90 * SECOND }, {}, 'retry_backoff', 90 * SECOND],
  ] as const)('%s', (_name, itemParts, targetParts, reason, after) => {
    const p = planned({ candidates: [candidate('i', itemParts, targetParts)] });
    expect(parked(p)).toEqual([['i', reason, after]]);
    expect(started(p)).toEqual([]);
    expect(p.next).toBe('replan');
    expect(p.recheck_at).toBe(NOW + after);
  });

  it.each([
    ['window', { calendar: closed(NOW + 2 * HOUR) }, {}],
    ['freeze', { calendar: frozen(NOW + 2 * HOUR) }, {}],
    ['gate', {}, { gate: { places: 0, updating: 0 } }],
    ['slots', {}, { wave: wave({ counters: counters(2, { in_progress: 1 }) }), rules: percent(50) }],
  ] as const)('never for the %s: what holds everybody alike stays ready', (_name, targetParts, parts) => {
    const p = planned({ candidates: [candidate('i', {}, targetParts)], ...parts });
    expect([p.park, p.dispatch, p.next]).toEqual([[], [], 'await']);
  });

  it('names the first hold and the earliest time', () => {
    const both = candidate('i', { status: 'retrying', retry_after: NOW + MINUTE }, { cluster_paused: { until: NOW + HOUR, reason: null } });
    expect(parked(planned({ candidates: [both] }))).toEqual([['i', 'cluster_paused', MINUTE]]);
  });
});

describe('into the lane of its calendar', () => {
  const night = closed(NOW + 2 * HOUR);
  const moved = (...all: Candidate[]) => planned({ candidates: all }).lane.map(({ item, calendar }) => [item.id, calendar]);

  it.each([
    ['window', night],
    ['freeze', frozen(NOW + 2 * HOUR)],
  ])('a retry whose pause is over waits for the %s there, and not among the parked', (_name, calendar) => {
    const due = candidate('i', { status: 'retrying', retry_after: NOW - 1, parked_until: NOW - 1 }, { calendar });
    const p = planned({ candidates: [due] });
    expect([moved(due), p.park, p.dispatch, p.next]).toEqual([[['i', calendar.key]], [], [], 'replan']);
  });

  it('an item whose workspace has got a window since', () => {
    const astray = candidate('i', { calendar: 'system' }, { calendar: night });
    expect(moved(astray, candidate('j', {}, { calendar: night }))).toEqual([['i', 'night']]);
  });

  it('never an item that may start, wherever it stands', () => {
    const p = planned({ candidates: [candidate('i', { calendar: 'w:elsewhere' })] });
    expect([p.lane, started(p)]).toEqual([[], ['i']]);
  });

  it('never one that something of its own holds besides: that is looked at when it ends', () => {
    const both = candidate('i', { calendar: 'system' }, { calendar: night, cluster_paused: { until: NOW + HOUR, reason: null } });
    expect([moved(both), parked(planned({ candidates: [both] }))]).toEqual([[], [['i', 'cluster_paused', HOUR]]]);
  });
});

describe('absent targets (SPEC §3.12)', () => {
  const silentSince = (absent_since: number | null, last_seen = NOW - 400 * HOUR, more = {}) =>
    candidate('i', { absent_since }, { agent: agent('x', { last_seen }), cluster_state: 'CRITICAL', ...more });
  const look = (c: Candidate, parts: Partial<PlanFacts> = {}) => planned({ candidates: [c], ...parts });

  it('the clock starts with the first look', () => {
    expect(look(silentSince(null)).park[0]).toMatchObject({ absent_since: NOW, reason: 'agent_silent' });
  });

  it('and goes on from look to look, until it ends the item at the very hour', () => {
    const since = NOW - 168 * HOUR;
    expect(look(silentSince(since + 1)).park[0]).toMatchObject({ absent_since: since + 1, until: NOW + 1 });
    expect(skipped(look(silentSince(since)))).toEqual([['i', 'target_absent']]);
  });

  it('a report since then starts it anew', () => {
    const p = look(silentSince(NOW - 200 * HOUR, NOW - 3 * HOUR));
    expect(p.park[0]).toMatchObject({ absent_since: NOW });
  });

  it('a missing agent counts like a silent one', () => {
    const missing = candidate('i', { absent_since: NOW - 168 * HOUR }, { agent: { missing: 'no_agent_token' } });
    expect(skipped(look(missing))).toEqual([['i', 'target_absent']]);
  });

  it('what a person holds is not absent', () => {
    const paused = silentSince(NOW - 300 * HOUR, NOW - 400 * HOUR, { cluster_paused: { until: null, reason: null } });
    expect(look(paused).park[0]).toMatchObject({ reason: 'cluster_paused', absent_since: null });
    const silent = silentSince(NOW - 300 * HOUR);
    expect(look(silent, { platform_paused: { reason: 'x' } }).park[0]).toMatchObject({ absent_since: null });
    expect(look(silent, { wave: wave({ status: 'paused', counters: counters(1) }) }).park[0]).toMatchObject({ absent_since: null });
  });

  it('a closed window does not stop the clock', () => {
    expect(skipped(look(silentSince(NOW - 168 * HOUR, NOW - 400 * HOUR, { calendar: closed(NOW + HOUR) })))).toEqual([
      ['i', 'target_absent'],
    ]);
  });

  it('park_after_hours is read fresh', () => {
    expect(skipped(look(silentSince(NOW - 2 * HOUR), { rules: rules({ park_after_hours: 2 }) }))).toEqual([['i', 'target_absent']]);
  });
});

describe('skipping (SPEC §2.3, §2.7, §2.8)', () => {
  it.each([
    ['a target that is gone', {}, { exists: false }, 'target_gone'],
    ['a block that the CLI manages', {}, { cli_managed: true }, 'cli_managed'],
    ['a newer version installed', {}, { demand: 'installed_is_newer' }, 'installed_is_newer'],
    ['a newer version installed, even forced', { forced: true, source: 'manual' }, { demand: 'installed_is_newer' }, 'installed_is_newer'],
    ['B18 a target already there', {}, { demand: 'up_to_date' }, 'already_at_target'],
    ['gone before silent', {}, { exists: false, agent: { missing: 'no_agent_token' } }, 'target_gone'],
  ] as const)('%s', (_name, itemParts, targetParts, reason) => {
    const p = planned({ candidates: [candidate('i', itemParts, targetParts)] });
    expect([skipped(p), started(p), p.next]).toEqual([[['i', reason]], [], 'replan']);
  });

  it.each([
    ['a forced item goes although up to date', { forced: true }, { demand: 'up_to_date' }, {}],
    ['a manual item goes although up to date', { source: 'manual' }, { demand: 'up_to_date' }, {}],
    ['auto_takeover takes over what the CLI manages', {}, { cli_managed: true }, { auto_takeover: true }],
  ] as const)('%s', (_name, itemParts, targetParts, ruleParts) => {
    expect(started(planned({ candidates: [candidate('i', itemParts, targetParts)], rules: rules(ruleParts) }))).toEqual(['i']);
  });
});
