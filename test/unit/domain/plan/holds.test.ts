import { describe, expect, it } from 'vitest';
import { earliestStart, type HoldFacts, holdsOf } from '../../../../lib/domain/plan/holds.ts';
import { type Blocker, type BlockerCode, HOLD_CODES } from '../../../../lib/domain/shared/rollout.ts';
import { HOUR, MINUTE, SECOND } from '../../../../lib/domain/shared/time.ts';
import { agent, calendar, candidate, closed, counters, facts, frozen, NOW, rules, target, wave } from '../../../support/plan-facts.ts';

const healthy: HoldFacts = facts({ wave: wave({ counters: counters(10) }) });
const codes = (blockers: readonly Blocker[]) => blockers.map((b) => b.code);
const holds = (f: Partial<HoldFacts>, itemParts = {}, targetParts = {}) =>
  holdsOf({ ...healthy, ...f }, candidate('i', itemParts, targetParts), NOW);

describe('what holds an item (SPEC §3.8)', () => {
  it('nothing, when everything is well', () => {
    expect(holds({})).toEqual([]);
  });

  it.each([
    ['platform_paused', { platform_paused: { reason: 'audit' } }, {}, {}, 'audit', null],
    ['cluster_paused', {}, {}, { cluster_paused: { until: NOW + HOUR, reason: 'move' } }, 'move', NOW + HOUR],
    ['cluster_paused', {}, {}, { cluster_paused: { until: null, reason: null } }, null, null],
    ['wave_paused', { wave: wave({ status: 'paused', status_reason: 'by anna' }) }, {}, {}, 'by anna', null],
    [
      'canary_review',
      { wave: wave({ status: 'paused', status_reason: 'canary_review' }) },
      {},
      {},
      'first batch is done; resume the wave to go on',
      null,
    ],
    ['wave_cancelled', { wave: wave({ status: 'cancelled' }) }, {}, {}, null, null],
    ['enqueue_running', { wave: wave({ enqueue_runs: ['run-1'] }) }, {}, {}, 'items are still being added to the wave', null],
    ['agent_missing', {}, {}, { agent: { missing: 'no_agent_token' } }, 'no_agent_token', null],
    ['agent_missing', {}, {}, { agent: { missing: 'operator_config_missing' } }, 'operator_config_missing', null],
    ['agent_silent', {}, {}, { agent: agent('a', { last_seen: NOW - 180 * SECOND }) }, 'no report for 180 s', null],
    ['cluster_critical', {}, {}, { cluster_state: 'CRITICAL' }, null, null],
    ['window_closed', {}, {}, { calendar: closed(NOW + 8 * HOUR) }, '18:00 UTC', NOW + 8 * HOUR],
    ['window_closed', {}, {}, { calendar: closed(null) }, null, null],
    ['freeze', {}, {}, { calendar: frozen(NOW + 24 * HOUR) }, 'Tue 2026-03-03 10:00 UTC', NOW + 24 * HOUR],
    ['canary_gate', { gate: { places: 2, updating: 2 } }, {}, {}, '2 of 2 in use', null],
    ['canary_gate', { gate: { places: 0, updating: 0 } }, {}, {}, '0 of 0 in use', null],
    ['no_free_slot', { wave: wave({ counters: counters(10, { in_progress: 10 }) }) }, {}, {}, '10 of 10 in use', null],
    ['no_free_slot', { rules: rules({ max_concurrent_percent: 20 }), older_in_progress: 2 }, {}, {}, '2 of 2 in use', null],
    ['no_free_slot', {}, {}, { agent: agent('a', { inbox_size: 8 }) }, 'its agent has 8 of 8 runs open', null],
    ['retry_backoff', {}, { status: 'retrying', retry_after: NOW + MINUTE }, {}, null, NOW + MINUTE],
    ['contact_missing', {}, {}, { has_contact: false }, null, null],
  ] as const)('%s alone', (code, f, itemParts, targetParts, detail, until) => {
    expect(holds(f, itemParts, targetParts)).toEqual([{ code, detail, until }]);
  });

  it('wave_blocked says the numbers', () => {
    const f = {
      wave: wave({ status: 'blocked', counters: counters(50, { failed: 11 }) }),
      rules: rules({ failure_threshold_percent: 20 }),
    };
    expect(holds(f)).toEqual([{ code: 'wave_blocked', detail: '11 of 50 failed, 20% allowed', until: null }]);
  });

  it('the full list comes in the fixed order', () => {
    const found = holds(
      {
        platform_paused: { reason: 'audit' },
        wave: wave({ status: 'paused', counters: counters(10, { in_progress: 10 }) }),
        gate: { places: 1, updating: 1 },
      },
      { status: 'retrying', retry_after: NOW + 1 },
      {
        cluster_paused: { until: null, reason: null },
        agent: agent('a', { last_seen: NOW - HOUR }),
        cluster_state: 'CRITICAL',
        calendar: closed(NOW + HOUR, { frozen_until: NOW + HOUR }),
        has_contact: false,
      },
    );
    const order = HOLD_CODES.filter((code) => !['wave_blocked', 'wave_cancelled', 'canary_review', 'agent_missing'].includes(code));
    expect(codes(found)).toEqual(order);
  });

  it('an agent is silent at the very second of the limit, and not before', () => {
    expect(holds({}, {}, { agent: agent('a', { last_seen: NOW - 180 * SECOND + 1 }) })).toEqual([]);
    expect(codes(holds({}, {}, { agent: agent('a', { last_seen: NOW - 180 * SECOND }) }))).toEqual(['agent_silent']);
  });

  it('a retry is due at its very instant', () => {
    expect(holds({}, { status: 'retrying', retry_after: NOW })).toEqual([]);
  });

  it('WARNING holds nothing, and neither does a state nobody knows', () => {
    expect(holds({}, {}, { cluster_state: 'WARNING' })).toEqual([]);
    expect(holds({}, {}, { cluster_state: null })).toEqual([]);
  });
});

describe('what a forced item bypasses (SPEC §3.9)', () => {
  it.each([
    ['window_closed', {}, { calendar: closed(NOW + HOUR) }],
    ['canary_gate', { gate: { places: 0, updating: 3 } }, {}],
    ['cluster_critical', {}, { cluster_state: 'CRITICAL' }],
  ] as const)('%s', (_code, f, targetParts) => {
    expect(holds(f, { forced: true }, targetParts)).toEqual([]);
  });

  it.each([
    ['platform_paused', { platform_paused: { reason: 'audit' } }, {}],
    ['cluster_paused', {}, { cluster_paused: { until: null, reason: null } }],
    ['wave_paused', { wave: wave({ status: 'paused' }) }, {}],
    ['wave_blocked', { wave: wave({ status: 'blocked' }) }, {}],
    ['wave_cancelled', { wave: wave({ status: 'cancelled' }) }, {}],
    ['agent_missing', {}, { agent: { missing: 'no_agent_token' } }],
    ['agent_silent', {}, { agent: agent('a', { last_seen: NOW - HOUR }) }],
    ['freeze', {}, { calendar: frozen(NOW + HOUR) }],
    ['no_free_slot', { wave: wave({ counters: counters(2, { in_progress: 2 }) }) }, {}],
  ] as const)('but never %s', (code, f, targetParts) => {
    expect(codes(holds(f, { forced: true }, targetParts))).toEqual([code]);
  });

  it('a freeze only with override_freeze', () => {
    expect(holds({}, { forced: true, override_freeze: true }, { calendar: frozen(NOW + HOUR) })).toEqual([]);
  });
});

describe('until when a freeze holds an item', () => {
  const calendar = frozen(NOW + HOUR, {
    window: { open: true, opens_at: NOW + 12 * HOUR, closes_at: null, zone: 'Europe/Berlin' },
    freeze_reason: 'year end',
  });
  const until = (f: Parameters<typeof holds>[0], itemParts: Parameters<typeof holds>[1], targetParts: Parameters<typeof holds>[2]) =>
    holds(f, itemParts, { calendar, ...targetParts })[0]?.until;

  it('until its window opens again, not merely until the freeze ends', () => {
    expect(holds({}, {}, { calendar })).toEqual([{ code: 'freeze', detail: '23:00 Europe/Berlin; year end', until: NOW + 12 * HOUR }]);
  });

  it('until it ends, where the window does not count then', () => {
    expect(until({}, { source: 'manual' }, {})).toBe(NOW + HOUR);
    expect(until({ rules: rules({ bypass_maintenance_window: true }) }, {}, {})).toBe(NOW + HOUR);
    expect(until({}, {}, { active_maintenance_until: NOW + 2 * HOUR })).toBe(NOW + HOUR);
    expect(until({}, {}, { active_maintenance_until: NOW + HOUR })).toBe(NOW + 12 * HOUR);
  });
});

describe('what bypasses the window, and never a freeze (SPEC §3.10, §1)', () => {
  const both = closed(NOW + HOUR, { frozen_until: NOW + 2 * HOUR });

  it.each([
    ['a manual item', {}, { source: 'manual' }, {}],
    ['window_bypassed', {}, { window_bypassed: true }, {}],
    ["the config's bypass", { rules: rules({ bypass_maintenance_window: true }) }, {}, {}],
    ['an active Maintenance', {}, {}, { active_maintenance_until: NOW + 1 }],
    ['force', {}, { forced: true }, {}],
  ] as const)('B28 %s', (_name, f, itemParts, targetParts) => {
    expect(holds(f, itemParts, { ...targetParts, calendar: closed(NOW + HOUR) })).toEqual([]);
    expect(codes(holds(f, itemParts, { ...targetParts, calendar: both }))).toEqual(['freeze']);
  });

  it('a Maintenance that is just over does not', () => {
    expect(codes(holds({}, {}, { active_maintenance_until: NOW, calendar: closed(NOW + HOUR) }))).toEqual(['window_closed']);
  });

  it('none of them bypasses gate or CRITICAL', () => {
    const f = { gate: { places: 0, updating: 0 } };
    expect(codes(holds(f, { source: 'manual', window_bypassed: true }, { cluster_state: 'CRITICAL' }))).toEqual([
      'cluster_critical',
      'canary_gate',
    ]);
  });
});

describe('the first batch (SPEC §3.12)', () => {
  const reviewed = rules({ hold_after_first_batch: true, max_concurrent_percent: 20 });

  it('no more than it may start before the review', () => {
    const f = { rules: reviewed, wave: wave({ counters: counters(10, { done: 1, in_progress: 1 }) }) };
    expect(codes(holds(f))).toEqual(['no_free_slot']);
  });

  it('afterwards the slots alone count', () => {
    const f = { rules: reviewed, wave: wave({ counters: counters(10, { done: 1, in_progress: 1 }), canary_reviewed: true }) };
    expect(holds(f)).toEqual([]);
  });
});

describe('earliest start (SPEC §3.8)', () => {
  const blocker = (code: BlockerCode, until: number | null): Blocker => ({ code, detail: null, until });

  it.each([
    ['nothing holds it', [], NOW],
    ['only a remark', [blocker('contact_missing', null)], NOW],
    ['one known end', [blocker('window_closed', NOW + HOUR)], NOW + HOUR],
    ['the latest of several', [blocker('cluster_paused', NOW + 2 * HOUR), blocker('window_closed', NOW + HOUR)], NOW + 2 * HOUR],
    ['an end that is past', [blocker('freeze', NOW - HOUR)], NOW],
    ['somebody has to do something', [blocker('wave_paused', null), blocker('window_closed', NOW + HOUR)], null],
  ])('%s', (_name, blockers, start) => {
    expect(earliestStart(blockers, NOW)).toBe(start);
  });

  it('B30 waiting for the window names the opening', () => {
    const blockers = holdsOf(healthy, candidate('i', {}, { calendar: closed(NOW + 12 * HOUR) }), NOW);
    expect(blockers).toEqual([{ code: 'window_closed', detail: '22:00 UTC', until: NOW + 12 * HOUR }]);
    expect(earliestStart(blockers, NOW)).toBe(NOW + 12 * HOUR);
  });

  it('an open calendar needs no end', () => {
    expect(holdsOf(healthy, { item: candidate('i').item, target: target({ calendar: calendar() }) }, NOW)).toEqual([]);
  });
});
