import { describe, expect, it } from 'vitest';
import type { Candidate, Plan, PlanFacts } from '../../../../lib/domain/plan/facts.ts';
import { plan } from '../../../../lib/domain/plan/plan.ts';
import { HOUR, MINUTE, SECOND } from '../../../../lib/domain/shared/time.ts';
import { candidate, candidates, counters, facts, NOW, rules, wave } from '../../../support/plan-facts.ts';

const started = (p: Plan) => p.dispatch.map((d) => d.item.id);
const percent = (max_concurrent_percent: number) => rules({ max_concurrent_percent });
const planned = (parts: Partial<PlanFacts>, now = NOW) => plan(facts(parts), now);
/** A wave of which only these candidates wait. */
const withCounts = (all: readonly Candidate[], parts: Parameters<typeof counters>[1], total: number) => ({
  candidates: all,
  wave: wave({ counters: counters(total, parts) }),
});

describe('who starts nothing (SPEC §1, §3.1, §3.9)', () => {
  it.each([
    ['the platform is paused', { platform_paused: { reason: 'audit' } }],
    ['an enqueue run is still adding', { wave: wave({ counters: counters(3), enqueue_runs: ['run-1'] }) }],
    ['the wave is paused', { wave: wave({ counters: counters(3), status: 'paused' }) }],
  ] as const)('%s', (_name, parts) => {
    const all = [candidate('a'), candidate('f', { forced: true, override_freeze: true }), candidate('m', { source: 'manual' })];
    const p = planned({ candidates: all, ...parts });
    expect([started(p), p.next]).toEqual([[], 'await']);
  });

  it('B64 a paused wave stays as it is whatever the percentage, and goes on when resumed', () => {
    const all = candidates(8);
    const status = (s: 'paused' | 'active') => ({ candidates: all, wave: wave({ status: s, counters: counters(10, { done: 2 }) }) });
    expect(started(planned({ ...status('paused'), rules: percent(50) }))).toEqual([]);
    expect(started(planned({ ...status('active'), rules: percent(20) }))).toHaveLength(2);
  });

  it('a blocked wave orders nothing, and is driven until its running work has ended', () => {
    const blocked = (in_progress: number) =>
      planned({ candidates: candidates(3), wave: wave({ status: 'blocked', counters: counters(10, { failed: 6, in_progress }) }) });
    expect(blocked(1)).toMatchObject({ next: 'await', dispatch: [], park: [], skip: [] });
    expect(blocked(0)).toMatchObject({ next: 'blocked', dispatch: [], park: [], skip: [] });
  });

  it('a completed wave is over', () => {
    expect(planned({ wave: wave({ status: 'completed', counters: counters(3, { done: 3 }) }) })).toMatchObject({
      next: 'completed',
      status: null,
    });
  });
});

describe('the threshold (SPEC §3.5)', () => {
  const b07 = (failed: number) =>
    planned({
      ...withCounts(candidates(50 - failed), { failed }, 50),
      rules: rules({ max_concurrent_percent: 2, failure_threshold_percent: 20 }),
    });

  it('B07 one and ten of fifty go on, eleven block', () => {
    expect([b07(1).status, started(b07(1)).length]).toEqual([null, 1]);
    expect([b07(10).status, started(b07(10)).length]).toEqual([null, 1]);
    expect(b07(11)).toMatchObject({ status: { to: 'blocked', reason: 'failure_threshold' }, dispatch: [], next: 'blocked' });
    expect(b07(10).numbers).toMatchObject({ failed: 10, base: 50, threshold_percent: 20, max_failed: 10 });
  });

  it('B10 blocked with the sixth of ten; running ones may finish; resumed without a retry it is blocked at once', () => {
    const at = (parts: Parameters<typeof counters>[1]) =>
      planned({ wave: wave({ counters: counters(10, parts) }), rules: rules({ failure_threshold_percent: 50 }) });
    expect(at({ failed: 5, in_progress: 5 }).status).toBeNull();
    expect(at({ failed: 6, in_progress: 4 })).toMatchObject({ status: { to: 'blocked' }, next: 'await' });
    expect(at({ failed: 6, done: 4 })).toMatchObject({ status: { to: 'blocked' }, next: 'blocked' });
  });

  it('B10 after the retry the wave is active and the six start again', () => {
    const p = planned({ ...withCounts(candidates(6), { done: 4 }, 10), rules: rules({ failure_threshold_percent: 50 }) });
    expect([p.status, started(p).length]).toEqual([null, 6]);
  });

  it('a paused wave is blocked too', () => {
    const p = planned({
      wave: wave({ status: 'paused', counters: counters(2, { failed: 2 }) }),
      rules: rules({ failure_threshold_percent: 50 }),
    });
    expect(p.status).toEqual({ to: 'blocked', reason: 'failure_threshold' });
  });

  it('blocking goes before completing', () => {
    const p = planned(
      { wave: wave({ counters: counters(2, { failed: 2 }) }), rules: rules({ failure_threshold_percent: 50 }) },
      NOW + HOUR,
    );
    expect(p.next).toBe('blocked');
  });

  it('the early brake names itself', () => {
    const f = {
      wave: wave({ counters: counters(1_000, { failed: 5 }) }),
      rules: rules({ failure_threshold_percent: 20, early_brake: true }),
    };
    expect(planned(f).status).toEqual({ to: 'blocked', reason: 'early_brake' });
  });
});

describe('completion (SPEC §3.2)', () => {
  const done = (added: number, parts = {}) => ({ wave: wave({ counters: counters(2, { done: 2 }), last_item_added_at: added, ...parts }) });

  it('waits for the quiet time and says when', () => {
    expect(planned(done(NOW - 10 * SECOND))).toMatchObject({ next: 'await', status: null, recheck_at: NOW + 20 * SECOND });
  });

  it('completes at its end', () => {
    expect(planned(done(NOW - 30 * SECOND))).toMatchObject({ next: 'completed', status: { to: 'completed', reason: 'all_items_ended' } });
  });

  it('a paused wave completes too', () => {
    expect(planned(done(NOW - HOUR, { status: 'paused' })).next).toBe('completed');
  });

  it('not while items are still being added, and it looks again', () => {
    expect(planned(done(NOW - HOUR, { enqueue_runs: ['run-1'] }))).toMatchObject({
      next: 'await',
      status: null,
      recheck_at: NOW + 5 * MINUTE,
    });
  });

  it('B40 a wave of skipped items only ends', () => {
    expect(planned({ wave: wave({ counters: counters(5, { skipped: 5 }) }) }).next).toBe('completed');
  });

  it('an empty wave ends after its quiet time', () => {
    expect(planned({ wave: wave({ counters: counters(0), last_item_added_at: null, created_at: NOW - 30 * SECOND }) }).next).toBe(
      'completed',
    );
  });
});

describe('hold after the first batch (SPEC §3.12)', () => {
  const held = rules({ hold_after_first_batch: true, max_concurrent_percent: 20 });
  const at = (parts: Parameters<typeof counters>[1], waveParts = {}) =>
    planned({ candidates: candidates(8), rules: held, wave: wave({ counters: counters(10, parts), ...waveParts }) });

  it('starts the batch and no more', () => {
    expect(started(at({}))).toHaveLength(2);
    expect(started(at({ done: 1, in_progress: 1 }))).toHaveLength(0);
    expect(at({ done: 1, in_progress: 1 }).status).toBeNull();
  });

  it('pauses when the batch has ended, failed ones too', () => {
    expect(at({ done: 1, failed: 1 })).toMatchObject({ status: { to: 'paused', reason: 'canary_review' }, dispatch: [], next: 'await' });
  });

  it('not for items that were skipped', () => {
    expect(at({ skipped: 2 }).status).toBeNull();
  });

  it('goes on once it was reviewed', () => {
    expect(at({ done: 2 }, { canary_reviewed: true })).toMatchObject({ status: null, next: 'dispatch' });
  });

  it('does not hold a wave in which nothing is left', () => {
    expect(planned({ rules: held, wave: wave({ counters: counters(1, { done: 1 }) }) }).next).toBe('completed');
  });
});

describe('cancelled (SPEC §3.9)', () => {
  const cancelled = (all: readonly Candidate[], parts: Parameters<typeof counters>[1], total: number) =>
    planned({ candidates: all, wave: wave({ status: 'cancelled', counters: counters(total, parts) }) });

  it('B20 everything that waits is skipped, then the running ones are awaited, then it is over', () => {
    const p = cancelled(candidates(5), { done: 2, in_progress: 3 }, 10);
    expect(p.skip.map((s) => s.reason)).toEqual(Array(5).fill('cancelled'));
    expect(p).toMatchObject({ next: 'replan', dispatch: [] });
    expect(cancelled([], { done: 2, in_progress: 3, skipped: 5 }, 10).next).toBe('await');
    expect(cancelled([], { done: 3, failed: 1, skipped: 6 }, 10).next).toBe('cancelled');
  });

  it('looks again when an index does not show all of them yet', () => {
    expect(cancelled([], { done: 2 }, 10)).toMatchObject({ next: 'await', recheck_at: NOW + 2 * SECOND, lag_rounds: 1 });
  });
});
