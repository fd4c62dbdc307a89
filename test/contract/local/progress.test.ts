import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApiClient } from '../../../local/api-client.ts';
import { makeReport } from '../../../local/report.ts';
import { isSettled } from '../../../local/settled.ts';
import { Watch } from '../../../local/terminal/watch.ts';
import { type Canned, cannedApi, cannedItem, cannedWave, held, idOf } from '../../support/canned-api.ts';

const clock = { now: () => Date.UTC(2026, 2, 1), until: () => Promise.resolve() };

const TIME = '2026-03-01T00:00:00.000Z';

let state: Canned;
let api: ApiClient;
let stop: () => Promise<void>;
beforeEach(async () => {
  state = { waves: [], items: [], runs: [], clusters: [] };
  ({ api, stop } = await cannedApi(state));
});
afterEach(() => {
  vi.useRealTimers();
  return stop();
});

const settled = async (): Promise<boolean> => isSettled(api, await new Watch(api, clock, '').waves());

describe('--exit-when-done', () => {
  const only = (more: Record<string, unknown>): void => {
    state.waves = [cannedWave(1, more)];
  };
  const pending = (...blockers: string[][]) => {
    state.waves = [cannedWave(1, { total_items: blockers.length, pending_items: blockers.length })];
    state.items = blockers.map((codes, n) => cannedItem(10 + n, { blockers: held(...codes) }));
  };

  it.each([
    ['no wave at all', () => undefined, true],
    ['a completed wave', () => only({ status: 'completed', total_items: 3, completed_items: 3 }), true],
    ['work in progress', () => only({ total_items: 1, in_progress_items: 1 }), false],
    ['all ended, the wave not yet', () => only({ total_items: 1, completed_items: 1 }), false],
    ['a blocked wave', () => only({ status: 'blocked', total_items: 1, failed_items: 1 }), true],
    ['one that may start', () => pending([]), false],
    ['one that waits for a slot', () => pending(['no_free_slot']), false],
    ['one that only lacks a contact', () => pending(['contact_missing']), false],
    [
      'silent, missing, paused, closed and frozen ones',
      () => pending(['agent_silent'], ['agent_missing'], ['cluster_paused'], ['window_closed'], ['freeze', 'no_free_slot']),
      true,
    ],
    ['one of many that may start', () => pending(['agent_silent'], ['agent_silent'], ['agent_silent'], ['canary_gate']), false],
  ])('with %s', async (_what, given, expected) => {
    given();
    expect(await settled()).toBe(expected);
  });

  it('waits for a retry', async () => {
    state.waves = [cannedWave(1, { total_items: 1, pending_items: 1 })];
    state.items = [cannedItem(10, { status: 'retrying', blockers: held('retry_backoff', 'agent_silent') })];
    expect(await settled()).toBe(false);
  });
});

describe('the watched view', () => {
  it.each([
    ['small', 3, [0, 1, 2, 3]],
    ['big', 301, [0, 0, 0, 1]],
  ])('a %s fleet’s operator board is brought up to date: at the detailed looks, or only at the last', async (_what, clusters, expected) => {
    state.clusters = Array.from({ length: clusters }, (_, n) => ({ id: idOf(1000 + n), name: `c${n}`, version: null }));
    vi.useFakeTimers({ toFake: ['performance'] });
    let refreshed = 0;
    const watch = new Watch(api, clock, 'http://x/', async () => {
      refreshed += 1;
    });
    const seen: number[] = [];
    for (const thorough of [false, false, false, true]) {
      await watch.look([], thorough);
      seen.push(refreshed);
      vi.advanceTimersByTime(60_000);
    }
    expect(seen).toEqual(expected);
  });

  it('groups what holds the rest, names who is running, and tells what happened', async () => {
    state.clusters = [{ id: idOf(90), name: 'fra-1', version: null }];
    state.waves = [cannedWave(1, { total_items: 6, in_progress_items: 1, pending_items: 5 })];
    state.items = [
      cannedItem(10, { status: 'in_progress', k8s_cluster: idOf(90) }),
      cannedItem(11, { blockers: held('canary_gate') }),
      cannedItem(12, { blockers: held('canary_gate') }),
      cannedItem(13, { status: 'retrying', blockers: held('retry_backoff') }),
    ];
    const watch = new Watch(api, clock, 'http://x/');
    const first = await watch.look(await watch.waves());
    expect(first.waves[0]).toMatchObject({ title: 'polycrate-operator → 0.34.0', running: ['fra-1'] });
    expect(first.waves[0]?.held.map(({ code, count }) => [code, count])).toEqual([
      ['canary_gate', 4],
      ['retry_backoff', 1],
    ]);
    expect(first.events).toEqual([]);
    const { blockers: _b, earliest_start: _e, ...base } = cannedItem(20, {});
    const run = {
      ...base,
      k8s_cluster: idOf(90),
      block: { id: idOf(2), name: 'ayedo/k8s/polycrate-operator', url: '' },
      rollout: null,
      item: null,
      agent: 'a',
    };
    const attempt = {
      action: 'install',
      attempt: 2,
      status: 'failed',
      phase: 'ended',
      status_reason: 'exit code 1',
      exit_code: 1,
      cancel_requested: false,
    };
    const times = {
      rendered_target_version: '0.34.0',
      dispatched_at: TIME,
      started_at: null,
      finished_at: null,
      deadline: TIME,
    };
    state.runs = [{ ...run, ...attempt, ...times }];
    const next = await watch.look(await watch.waves(), true);
    expect(next.events).toEqual([expect.stringContaining('fra-1: install polycrate-operator 0.34.0, attempt 2: failed (exit code 1)')]);
  });
});

describe('--report', () => {
  it('adds up waves, span, versions and what is held', async () => {
    state.clusters = [
      { id: idOf(90), name: 'fra-1', version: '0.34.0' },
      { id: idOf(91), name: 'fra-2', version: '0.34.0' },
      { id: idOf(92), name: 'fra-3', version: null },
    ];
    state.waves = [
      cannedWave(1, { total_items: 3, completed_items: 1, failed_items: 1, pending_items: 1, failure_rate: 33.3 }),
      cannedWave(2, { status: 'completed', total_items: 1, completed_items: 1, owner_kind: 'LoadBalancer' }),
    ];
    state.items = [
      cannedItem(10, { status: 'completed', completed_at: '2026-03-01T00:00:10.000Z' }),
      cannedItem(11, { status: 'failed', completed_at: '2026-03-01T00:00:20.500Z' }),
      cannedItem(12, { k8s_cluster: idOf(92), blockers: held('agent_silent', 'contact_missing') }),
      cannedItem(13, { rollout: idOf(2), status: 'completed', completed_at: '2026-03-01T00:00:05.000Z' }),
    ];
    expect(await makeReport(api, { write: 130, read: 70, work: { write: 100, read: 50 } })).toEqual({
      seconds: 20.5,
      targets: 3,
      targets_per_second: 0.1,
      counters: { total: 4, done: 2, in_progress: 0, pending: 1, failed: 1, skipped: 0 },
      waves: [
        {
          id: idOf(1),
          rollout_config: null,
          target_version: '0.34.0',
          owner: null,
          status: 'active',
          failure_rate: 33.3,
          counters: { total: 3, done: 1, in_progress: 0, pending: 1, failed: 1, skipped: 0 },
        },
        {
          id: idOf(2),
          rollout_config: null,
          target_version: '0.34.0',
          owner: 'LoadBalancer',
          status: 'completed',
          failure_rate: 0,
          counters: { total: 1, done: 1, in_progress: 0, pending: 0, failed: 0, skipped: 0 },
        },
      ],
      histogram: { '0.34.0': 2, unknown: 1 },
      held: [{ cluster: 'fra-3', reasons: ['agent_silent'], until: null }],
      units: { write: 130, read: 70, per_item: { write: 25, read: 12.5 } },
    });
  });

  it('is about nothing when there was nothing', async () => {
    expect(await makeReport(api, { write: 0, read: 0, work: { write: 0, read: 0 } })).toMatchObject({
      seconds: 0,
      targets: 0,
      targets_per_second: 0,
      waves: [],
      held: [],
    });
  });
});
