import { describe, expect, it } from 'vitest';
import { effectiveCriticality } from '../../../../lib/domain/item/criticality.ts';
import { compareOrder, dispatchKey, type OrderFacts } from '../../../../lib/domain/item/order.ts';
import { retryDelay, triesLeft } from '../../../../lib/domain/item/retry.ts';
import { HOUR } from '../../../../lib/domain/shared/time.ts';

describe('retry delay (SPEC §3.6)', () => {
  it.each([
    [1, 60_000],
    [2, 120_000],
    [3, 240_000],
    [6, 1_920_000],
    [7, HOUR],
    [10, HOUR],
    [2_000, HOUR],
  ])('after failure %i of base 60 s: %i ms', (n, delay) => {
    expect(retryDelay(60, n, 0.5)).toBe(delay);
  });

  it('is spread by ten percent to both sides', () => {
    expect(retryDelay(100, 1, 0)).toBe(90_000);
    expect(retryDelay(100, 1, 0.999_999)).toBeLessThanOrEqual(110_000);
    expect(retryDelay(100, 1, 0.999_999)).toBeGreaterThan(109_990);
  });

  it('no base means at once, after any number of failures', () => {
    expect(retryDelay(0, 1, 0.9)).toBe(0);
    expect(retryDelay(0, 5_000, 0.9)).toBe(0);
  });

  it.each([
    [0, 1],
    [1, 2],
    [3, 4],
  ])('B11 max_retries %i gives %i attempts', (max_retries, attempts) => {
    let tries = 0;
    while (triesLeft(tries, max_retries) > 0) tries += 1;
    expect(tries).toBe(attempts);
  });

  it('a lowered max_retries leaves none, never fewer', () => {
    expect(triesLeft(5, 1)).toBe(0);
  });
});

describe('order of dispatch (SPEC §3.7)', () => {
  const base: OrderFacts = { forced: false, in_maintenance: false, criticality: 'medium', enqueued_at: 1_000, id: 'b' };
  const sorted = (all: OrderFacts[]) => [...all].sort(compareOrder).map((o) => o.id);

  it('B62 high before medium before low, not the alphabet', () => {
    const all = (['low', 'high', 'medium'] as const).flatMap((criticality) =>
      [3, 1, 2].map((n) => ({ ...base, criticality, enqueued_at: n, id: `${criticality}-${n}` })),
    );
    expect(sorted(all)).toEqual(['high-1', 'high-2', 'high-3', 'medium-1', 'medium-2', 'medium-3', 'low-1', 'low-2', 'low-3']);
    expect(sorted([...all].reverse())).toEqual(sorted(all));
  });

  it('B62 one in maintenance comes first, a forced one before it', () => {
    expect(
      sorted([
        { ...base, criticality: 'high', id: 'high' },
        { ...base, criticality: 'low', in_maintenance: true, id: 'maintained' },
        { ...base, criticality: 'low', forced: true, id: 'forced' },
        { ...base, criticality: 'low', forced: true, in_maintenance: true, id: 'both' },
      ]),
    ).toEqual(['both', 'forced', 'maintained', 'high']);
  });

  it('then the longest waiting, whatever the number of digits', () => {
    expect(
      sorted([
        { ...base, enqueued_at: 10_000, id: 'later' },
        { ...base, enqueued_at: 9_999, id: 'earlier' },
      ]),
    ).toEqual(['earlier', 'later']);
  });

  it('then the id, and an item is equal to itself alone', () => {
    expect(
      sorted([
        { ...base, id: 'b' },
        { ...base, id: 'a' },
      ]),
    ).toEqual(['a', 'b']);
    expect(compareOrder(base, { ...base })).toBe(0);
  });

  it('is written so that the table sorts it bytewise', () => {
    expect(dispatchKey({ ...base, forced: true, criticality: 'high', enqueued_at: 1_772_445_600_000 })).toBe('010#001772445600000#b');
  });

  it.each([
    ['low', 'high', 'low'],
    [null, 'high', 'high'],
    [null, null, 'medium'],
    ['medium', null, 'medium'],
  ] as const)('B62 workspace %s in organization %s counts as %s', (workspace, organization, effective) => {
    expect(effectiveCriticality(workspace, organization)).toBe(effective);
  });
});
