import { describe, expect, test } from 'vitest';
import type { PlanFacts } from '../../../../lib/domain/plan/facts.ts';
import { heldBy } from '../../../../lib/domain/plan/held-by.ts';
import { plan } from '../../../../lib/domain/plan/plan.ts';
import { HOUR } from '../../../../lib/domain/shared/time.ts';
import { CANARY_REVIEW } from '../../../../lib/domain/wave/transitions.ts';
import { calendar, candidate, closed, counters, facts, frozen, NOW, rules, wave } from '../../../support/plan-facts.ts';

function held(parts: Partial<PlanFacts>) {
  const f = facts(parts);
  return heldBy(f, plan(f, NOW));
}

const ready = (n: number) => ({ calendars: [calendar({ ready: n })], candidates: Array.from({ length: n }, (_, i) => candidate(`i${i}`)) });

describe('what a decision leaves waiting, and by what', () => {
  test('nothing when all of them start', () => {
    expect(held({ ...ready(3), wave: wave({ counters: counters(3) }) })).toEqual({});
  });

  test('no free place for the rest', () => {
    expect(held({ ...ready(10), wave: wave({ counters: counters(10) }), rules: rules({ max_concurrent_percent: 30 }) })).toEqual({
      no_free_slot: 7,
    });
  });

  test('the operator gate for the rest', () => {
    const gate = { places: 2, updating: 2 };
    expect(held({ ...ready(4), gate, wave: wave({ counters: counters(6, { in_progress: 2 }) }) })).toEqual({ canary_gate: 4 });
  });

  test('closed and frozen calendars without reading one of their items', () => {
    const calendars = [closed(NOW + HOUR, { ready: 900 }), frozen(NOW + HOUR, { ready: 40 })];
    expect(held({ calendars, wave: wave({ counters: counters(1_000) }) })).toEqual({ window_closed: 900, freeze: 40, parked: 60 });
  });

  test.each([
    ['platform_paused', { platform_paused: { reason: 'stop' } }],
    ['wave_paused', { wave: wave({ status: 'paused', counters: counters(2) }) }],
    ['canary_review', { wave: wave({ status: 'paused', status_reason: CANARY_REVIEW, counters: counters(2) }) }],
    ['wave_blocked', { wave: wave({ status: 'blocked', counters: counters(2) }) }],
    ['enqueue_running', { wave: wave({ enqueue_runs: ['e'], counters: counters(2) }) }],
  ])('the whole wave: %s', (code, parts) => {
    expect(held({ ...ready(2), candidates: [], wave: wave({ counters: counters(2) }), ...parts })).toEqual({ [code]: 2 });
  });

  test('an item that is put aside counts for its own reason, one that comes back from there not twice', () => {
    const back = candidate('i1', { parked_until: NOW - 1 });
    const absent = candidate('i2', {}, { agent: { missing: 'no_agent_token' } });
    const counted = { calendars: [calendar({ ready: 1 })], candidates: [back, absent], wave: wave({ counters: counters(3) }) };
    expect(held(counted)).toEqual({ agent_missing: 1, parked: 1 });
  });
});
