import { describe, expect, it } from 'vitest';
import { histogram } from '../../../../lib/domain/operator/histogram.ts';
import { ROLLOUT_STATUSES, type RolloutStatusFacts, rolloutStatus } from '../../../../lib/domain/operator/rollout-status.ts';
import { isStuck } from '../../../../lib/domain/operator/stuck.ts';
import { HOUR } from '../../../../lib/domain/shared/time.ts';
import { NOW } from '../../../support/plan-facts.ts';

describe('rollout status of a cluster (SPEC §5)', () => {
  const base: RolloutStatusFacts = {
    cluster_paused: false,
    item: null,
    blockers: [],
    installed_version: '1.0.0',
    desired_version: '2.0.0',
  };
  const at = (status: NonNullable<RolloutStatusFacts['item']>['status'], target_version = '2.0.0') => ({
    item: { status, target_version },
  });

  it.each([
    ['paused', { cluster_paused: true, ...at('in_progress') }],
    ['updating', at('in_progress')],
    ['retrying', at('retrying')],
    ['failed', at('failed')],
    ['gated', { ...at('pending'), blockers: ['window_closed'] }],
    ['gated', { ...at('pending'), blockers: ['no_free_slot', 'canary_gate'] }],
    ['queued', at('pending')],
    ['queued', { ...at('pending'), blockers: ['no_free_slot', 'contact_missing', 'maintenance_active'] }],
    ['not_installed', { installed_version: null }],
    ['not_installed', { installed_version: null, desired_version: null }],
    ['not_installed', { ...at('skipped'), installed_version: null }],
    ['update_available', {}],
    ['update_available', at('skipped')],
    ['update_available', { installed_version: 'nightly' }],
    ['ahead', { installed_version: '2.0.1' }],
    ['up_to_date', { installed_version: '2.0.0' }],
    ['up_to_date', { ...at('completed'), installed_version: 'v2.0.0' }],
    ['up_to_date', { desired_version: null }],
  ] as const)('%s: %j', (status, parts) => {
    expect(rolloutStatus({ ...base, ...parts })).toBe(status);
  });

  it('a failure with another target says nothing about this one', () => {
    expect(rolloutStatus({ ...base, ...at('failed', '1.9.0') })).toBe('update_available');
  });

  it('names each status once, in the order in which they apply', () => {
    expect(new Set(ROLLOUT_STATUSES).size).toBe(10);
    expect(ROLLOUT_STATUSES[0]).toBe('paused');
    expect(ROLLOUT_STATUSES.at(-1)).toBe('up_to_date');
  });
});

describe('fleet histogram (SPEC §5)', () => {
  it('newest version first, then what is no version, then unknown', () => {
    const versions = ['0.9.0', null, '0.10.0', 'latest', '0.34.0', '0.34.0', '0.34.0-rc.1', '', 'edge', 'v0.10.0'];
    expect(histogram(versions)).toEqual([
      { version: '0.34.0', count: 2 },
      { version: '0.34.0-rc.1', count: 1 },
      { version: '0.10.0', count: 1 },
      { version: 'v0.10.0', count: 1 },
      { version: '0.9.0', count: 1 },
      { version: 'edge', count: 1 },
      { version: 'latest', count: 1 },
      { version: null, count: 2 },
    ]);
  });

  it('counts everybody once, in any order', () => {
    const versions = ['1.0.0', '2.0.0', null, 'x', '1.0.0'];
    expect(histogram([...versions].reverse())).toEqual(histogram(versions));
    expect(histogram([])).toEqual([]);
  });
});

describe('stuck (SPEC §5, §4)', () => {
  const base = { out_of_date: true, last_progress_at: NOW, gates_open_since: NOW };

  it('after 24 h with open gates and no progress, at the very hour', () => {
    expect(isStuck(base, NOW + 24 * HOUR - 1)).toBe(false);
    expect(isStuck(base, NOW + 24 * HOUR)).toBe(true);
  });

  it('counts from the later of progress and opening', () => {
    expect(isStuck({ ...base, last_progress_at: NOW + HOUR }, NOW + 24 * HOUR)).toBe(false);
    expect(isStuck({ ...base, gates_open_since: NOW + HOUR }, NOW + 24 * HOUR)).toBe(false);
    expect(isStuck({ ...base, last_progress_at: null }, NOW + 24 * HOUR)).toBe(true);
  });

  it('B30 waiting for a window is not being stuck', () => {
    expect(isStuck({ ...base, gates_open_since: null }, NOW + 1_000 * HOUR)).toBe(false);
  });

  it('up to date is never stuck', () => {
    expect(isStuck({ ...base, out_of_date: false }, NOW + 1_000 * HOUR)).toBe(false);
  });
});
