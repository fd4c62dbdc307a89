import { describe, expect, it } from 'vitest';
import type { PlanFacts } from '../../../../lib/domain/plan/facts.ts';
import { plan } from '../../../../lib/domain/plan/plan.ts';
import { HOUR, MINUTE, SECOND } from '../../../../lib/domain/shared/time.ts';
import { calendar, candidate, closed, counters, facts, NOW, rules, wave } from '../../../support/plan-facts.ts';

const percent = (max_concurrent_percent: number) => rules({ max_concurrent_percent });
const planned = (parts: Partial<PlanFacts>, now = NOW) => plan(facts(parts), now);

describe('when to look again (SPEC §12 I8)', () => {
  const night = closed(NOW + 8 * HOUR, { ready: 3 });

  it('B30 at the next opening', () => {
    const p = planned({ candidates: [], calendars: [night], wave: wave({ counters: counters(3) }) });
    expect(p).toMatchObject({ next: 'await', recheck_at: NOW + 8 * HOUR, lag_rounds: 0 });
  });

  it('not for a calendar in which nothing waits', () => {
    expect(
      planned({ calendars: [{ ...night, ready: 0 }], next_parked_at: NOW + 24 * HOUR, wave: wave({ counters: counters(3) }) }).recheck_at,
    ).toBe(NOW + 24 * HOUR);
  });

  it('when the next parked item is due, or something platform-wide changes', () => {
    expect(planned({ next_parked_at: NOW + HOUR, wave: wave({ counters: counters(3) }) }).recheck_at).toBe(NOW + HOUR);
    expect(
      planned({ next_parked_at: NOW + HOUR, next_fact_change_at: NOW + MINUTE, wave: wave({ counters: counters(3) }) }).recheck_at,
    ).toBe(NOW + MINUTE);
  });

  it('soon, when the counters name parked items that the lane does not show yet', () => {
    const hidden = planned({ calendars: [], next_parked_at: null, wave: wave({ counters: counters(1) }) });
    expect(hidden).toMatchObject({ next: 'await', recheck_at: NOW + 2 * SECOND, lag_rounds: 1 });
  });

  it('at most once a second and at least once a day', () => {
    expect(planned({ next_parked_at: NOW - HOUR, wave: wave({ counters: counters(3) }) }).recheck_at).toBe(NOW + SECOND);
    expect(planned({ next_parked_at: NOW + 1_000 * HOUR, wave: wave({ counters: counters(3) }) }).recheck_at).toBe(NOW + 24 * HOUR);
  });

  it.each([
    [0, 2],
    [1, 4],
    [2, 8],
    [3, 16],
    [4, 30],
    [99, 30],
  ])('an index that lags for round %i: after %i s', (lag_rounds, seconds) => {
    const p = planned({ calendars: [calendar({ ready: 2 })], wave: wave({ counters: counters(2) }), lag_rounds });
    expect(p).toMatchObject({ next: 'await', recheck_at: NOW + seconds * SECOND, lag_rounds: lag_rounds + 1 });
  });

  it('a lag makes no difference while no place is free, and is forgotten when it is over', () => {
    const f = {
      calendars: [calendar({ ready: 2 })],
      wave: wave({ counters: counters(4, { in_progress: 2 }) }),
      rules: percent(50),
      lag_rounds: 3,
    };
    // Not the lag's seconds: the minute of work that is under way.
    expect(planned(f)).toMatchObject({ recheck_at: NOW + MINUTE, lag_rounds: 0 });
  });

  it('candidates that were cut lead to another plan when this one made room', () => {
    const gone = candidate('gone', {}, { exists: false });
    expect(planned({ candidates: [gone], candidates_complete: false, wave: wave({ counters: counters(9) }) }).next).toBe('replan');
  });

  it('and to a look in a minute when none of them could move, instead of a loop', () => {
    const held = candidate('held', {}, { calendar: closed(NOW + HOUR) });
    const p = planned({ candidates: [held], candidates_complete: false, wave: wave({ counters: counters(9) }) });
    expect(p).toMatchObject({ next: 'await', recheck_at: NOW + MINUTE });
  });

  it('a wave that is over wants nothing before a day has passed', () => {
    for (const status of ['blocked', 'completed', 'cancelled'] as const) {
      const p = planned({ wave: wave({ status, counters: counters(2, { done: 2 }) }), calendars: [night], next_parked_at: NOW + 1 });
      expect(p.recheck_at).toBe(NOW + 24 * HOUR);
    }
  });
});

describe('until when an order is good (SPEC §4)', () => {
  const open = calendar({ key: 'w', window: { open: true, opens_at: null, closes_at: NOW + HOUR, zone: null }, changes_at: NOW + HOUR });
  const order = (itemParts: Parameters<typeof candidate>[1], targetParts: Parameters<typeof candidate>[2]) =>
    planned({ candidates: [candidate('i', itemParts, targetParts)] }).dispatch[0]?.not_after;

  it('B27 the close of the window', () => {
    expect(order({}, { calendar: open })).toBe(NOW + HOUR);
  });

  it('a freeze that begins before it', () => {
    expect(order({}, { calendar: { ...open, changes_at: NOW + MINUTE } })).toBe(NOW + MINUTE);
    expect(order({ override_freeze: true }, { calendar: { ...open, changes_at: NOW + MINUTE } })).toBe(NOW + HOUR);
  });

  it('the end of the Maintenance that stands for the window', () => {
    expect(order({}, { calendar: closed(NOW + 8 * HOUR), active_maintenance_until: NOW + HOUR })).toBe(NOW + HOUR);
  });

  it('no end when always open', () => {
    expect(order({}, {})).toBeNull();
  });

  it('an item that bypasses the window ends at no close, but where a freeze may begin', () => {
    expect(order({ forced: true, override_freeze: true }, { calendar: open })).toBeNull();
    expect(order({ source: 'manual' }, { calendar: { ...open, changes_at: NOW + MINUTE } })).toBe(NOW + MINUTE);
  });
});
