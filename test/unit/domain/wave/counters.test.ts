import { describe, expect, it } from 'vitest';
import { itemTransition } from '../../../../lib/domain/item/transitions.ts';
import type { Counters, ItemStatus } from '../../../../lib/domain/shared/rollout.ts';
import { addsUp, baseOf, countersOf, isComplete, isQuiet, quietAt } from '../../../../lib/domain/wave/counters.ts';
import { counters, NOW } from '../../../support/plan-facts.ts';

describe('counters (SPEC §3.3)', () => {
  it('B58 twelve items in six states make five columns that add up, with retrying shown as pending', () => {
    const c = countersOf({ total: 12, started: 9, ended: 7, done: 3, failed: 1, skipped: 3 });
    expect(c).toEqual({ total: 12, done: 3, in_progress: 2, pending: 3, failed: 1, skipped: 3 });
    expect(addsUp(c)).toBe(true);
    expect(baseOf(c)).toBe(9);
  });

  it('B58 one item through every state keeps the sum at each step', () => {
    let stored = { total: 12, started: 0, ended: 0, done: 0, failed: 0, skipped: 0 };
    let status: ItemStatus = 'pending';
    const steps = [
      ['dispatch', { started: 1 }],
      ['fail_attempt_with_tries', { ended: 1 }],
      ['dispatch', { started: 1 }],
      ['withdraw', { ended: 1 }],
      ['dispatch', { started: 1 }],
      ['fail_final', { ended: 1, failed: 1 }],
      ['retry', { failed: -1 }],
      ['dispatch', { started: 1 }],
      ['succeed', { ended: 1, done: 1 }],
    ] as const;
    const seen: string[] = [];
    for (const [event, by] of steps) {
      const moved = itemTransition(status, event);
      if (!moved.ok) throw new Error(moved.detail);
      status = moved.to;
      for (const [key, n] of Object.entries(by)) stored = { ...stored, [key]: stored[key as keyof typeof stored] + n };
      const c: Counters = countersOf(stored);
      expect(addsUp(c), event).toBe(true);
      seen.push(`${c.done}+${c.in_progress}+${c.pending}+${c.failed}+${c.skipped}`);
    }
    expect(seen).toEqual([
      '0+1+11+0+0',
      '0+0+12+0+0',
      '0+1+11+0+0',
      '0+0+12+0+0',
      '0+1+11+0+0',
      '0+0+11+1+0',
      '0+0+12+0+0',
      '0+1+11+0+0',
      '1+0+11+0+0',
    ]);
  });

  it('a column below zero does not add up, even when the sum does', () => {
    expect(addsUp({ total: 10, done: 11, in_progress: -1, pending: 0, failed: 0, skipped: 0 })).toBe(false);
    expect(addsUp({ total: 10, done: 9, in_progress: 0, pending: 0, failed: 0, skipped: 0 })).toBe(false);
  });
});

describe('quiet time (SPEC §3.2)', () => {
  it('starts with the last item added and ends at the very second', () => {
    expect(isQuiet(NOW + 29_999, NOW, NOW - 60_000, 30)).toBe(false);
    expect(isQuiet(NOW + 30_000, NOW, NOW - 60_000, 30)).toBe(true);
  });

  it('starts with the wave when nothing was ever added', () => {
    expect(quietAt(null, NOW, 30)).toBe(NOW + 30_000);
  });

  it('is over at once when it is zero', () => {
    expect(isQuiet(NOW, NOW, NOW, 0)).toBe(true);
  });
});

describe('completion (SPEC §3.2)', () => {
  const wave = {
    status: 'active',
    counters: counters(5, { done: 5 }),
    last_item_added_at: NOW,
    created_at: NOW,
    enqueue_runs: [] as string[],
  };
  const later = NOW + 30_000;

  it.each([
    ['active', true],
    ['paused', true],
    ['blocked', false],
    ['completed', false],
    ['cancelled', false],
  ])('an %s wave with everything ended and quiet: %s', (status, complete) => {
    expect(isComplete({ ...wave, status }, 30, later)).toBe(complete);
  });

  it('not before the quiet time is over', () => {
    expect(isComplete(wave, 30, later - 1)).toBe(false);
  });

  it('not while an item waits or runs', () => {
    expect(isComplete({ ...wave, counters: counters(5, { done: 4 }) }, 30, later)).toBe(false);
    expect(isComplete({ ...wave, counters: counters(5, { done: 4, in_progress: 1 }) }, 30, later)).toBe(false);
  });

  it('not while somebody is still adding', () => {
    expect(isComplete({ ...wave, enqueue_runs: ['run-1'] }, 30, later)).toBe(false);
  });

  it('B40 a wave of nothing but skipped items ends', () => {
    expect(isComplete({ ...wave, counters: counters(5, { skipped: 5 }) }, 30, later)).toBe(true);
  });
});
