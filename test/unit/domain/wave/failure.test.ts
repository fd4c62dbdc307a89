import { describe, expect, it } from 'vitest';
import { blockReason, earlyBrake, excessFailures, wilsonLower } from '../../../../lib/domain/wave/brake.ts';
import { failureRate, isAboveThreshold, maxFailed } from '../../../../lib/domain/wave/failure.ts';
import { counters } from '../../../support/plan-facts.ts';

describe('failure rate (SPEC §3.5)', () => {
  it.each([
    [0, 50, 0],
    [1, 50, 2],
    [11, 50, 22],
    [1, 3, 100 / 3],
    [5, 5, 100],
    [0, 0, 0],
  ])('%i of %i is %f percent', (failed, base, rate) => {
    expect(failureRate(failed, base)).toBeCloseTo(rate, 10);
  });

  it.each([
    [1, false],
    [10, false],
    [11, true],
  ])('B07 %i of 50 failed against 20%%: above is %s', (failed, above) => {
    expect(isAboveThreshold(failed, 50, 20)).toBe(above);
  });

  it.each([
    [5, false],
    [6, true],
  ])('B10 %i of 10 failed against 50%%: above is %s', (failed, above) => {
    expect(isAboveThreshold(failed, 10, 50)).toBe(above);
  });

  it('threshold 0 stands no failure, threshold 100 every one', () => {
    expect(isAboveThreshold(0, 10, 0)).toBe(false);
    expect(isAboveThreshold(1, 10_000, 0)).toBe(true);
    expect(isAboveThreshold(10, 10, 100)).toBe(false);
  });

  it('nothing is above anything when every item was skipped', () => {
    expect(isAboveThreshold(0, 0, 0)).toBe(false);
    expect(maxFailed(0, 100)).toBe(0);
  });

  it('maxFailed is the last count that is not above, for every threshold and base', () => {
    for (let base = 1; base <= 300; base += 1) {
      for (let threshold = 0; threshold <= 100; threshold += 1) {
        const most = maxFailed(base, threshold);
        const wrong = isAboveThreshold(most, base, threshold) || (most < base && !isAboveThreshold(most + 1, base, threshold));
        if (wrong) throw new Error(`${threshold}% of ${base}: ${most}`);
      }
    }
  });
});

describe('early brake (SPEC §3.5)', () => {
  it.each([
    [0, 10, 0],
    [1, 10, 0.0179],
    [5, 10, 0.2366],
    [5, 5, 0.5655],
    [10, 10, 0.7225],
  ])('lower bound of %i of %i is %f', (failed, finished, bound) => {
    expect(wilsonLower(failed, finished)).toBeCloseTo(bound, 4);
  });

  it('has no bound of nothing', () => {
    expect(wilsonLower(0, 0)).toBe(0);
  });

  it('waits for 5 finished items, however bad the first four were', () => {
    expect(earlyBrake(4, 4, 20)).toBe(false);
    expect(earlyBrake(5, 5, 20)).toBe(true);
  });

  it('no failure is never above, not even above 0%', () => {
    for (let finished = 5; finished <= 1_000; finished += 1) expect(earlyBrake(0, finished, 0), `${finished}`).toBe(false);
  });

  it('is strictly above the threshold', () => {
    expect(earlyBrake(5, 5, 56)).toBe(true);
    expect(earlyBrake(5, 5, 57)).toBe(false);
  });

  it('blocks a large wave long before its share is above, and only when asked', () => {
    const c = counters(1_000, { done: 2, failed: 8 });
    const rules = { failure_threshold_percent: 20, early_brake: true };
    expect(blockReason(c, rules)).toBe('early_brake');
    expect(blockReason(c, { ...rules, early_brake: false })).toBeNull();
  });
});

describe('how many failed items must be retried', () => {
  it('none while the wave is not blocked', () => {
    expect(excessFailures(counters(10, { failed: 5 }), { failure_threshold_percent: 50, early_brake: false })).toBe(0);
  });

  it('exactly those above the threshold', () => {
    expect(excessFailures(counters(50, { failed: 14 }), { failure_threshold_percent: 20, early_brake: false })).toBe(4);
  });

  it('all with threshold 0', () => {
    expect(excessFailures(counters(3, { failed: 3 }), { failure_threshold_percent: 0, early_brake: false })).toBe(3);
  });

  it('until the early brake lets go too', () => {
    expect(excessFailures(counters(1_000, { done: 0, failed: 6 }), { failure_threshold_percent: 20, early_brake: true })).toBe(2);
  });
});
