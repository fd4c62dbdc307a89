import { describe, expect, it } from 'vitest';
import { greeting, summary } from '../../../local/start-text.ts';
import type { Wave } from '../../../local/terminal/watch.ts';

const facts = { baseUrl: 'http://127.0.0.1:8787/', key: 'brk_x', keyFile: '.data/admin-key', virtual: false, agents: 'virtual ones' };

const wave = (status: Wave['status'], done: number, failed: number): Wave => ({
  id: '0',
  name: 'w',
  display_name: null,
  labels: {},
  annotations: {},
  created_at: '2026-03-01T00:00:00Z',
  updated_at: '2026-03-01T00:00:00Z',
  archived: false,
  archived_at: null,
  archived_reason: null,
  url: '',
  batch_identifier: 'b',
  rollout_config: null,
  block_name: 'ayedo/k8s/polycrate-operator',
  owner_kind: null,
  target_version: '0.34.0',
  source: 'scheduler',
  status,
  reason: null,
  status_reason: null,
  is_terminal: false,
  total_items: done + failed,
  dispatched_items: 0,
  in_progress_items: 0,
  completed_items: done,
  pending_items: 0,
  failed_items: failed,
  skipped_items_count: 0,
  failure_rate: 0,
  quiescence_seconds: 30,
  last_item_added_at: null,
  completed_at: null,
  recheck_at: null,
});

describe('what npm start says', () => {
  it('where it is and how to sign in', () => {
    const text = greeting(facts);
    expect(text).toContain('http://127.0.0.1:8787/api/v1/');
    expect(text).toContain('brk_x');
    expect(text).toContain('"Authorization: Bearer $(cat .data/admin-key)"');
    expect(text).not.toContain('/local/clock');
  });

  it('how the clock moves, when it does not by itself', () => {
    expect(greeting({ ...facts, virtual: true, keyFile: null })).toContain('http://127.0.0.1:8787/local/clock');
    expect(greeting({ ...facts, keyFile: null })).toContain('"Authorization: Bearer brk_x"');
  });

  it('how it ended, wave by wave and in all', () => {
    const text = summary([wave('completed', 3, 0), wave('blocked', 1, 2)]);
    expect(text).toContain('polycrate-operator → 0.34.0  completed  Total 3 = 3 Done + 0 In Progress + 0 Pending + 0 Failed + 0 Skipped');
    expect(text).toContain('all waves  Total 6 = 4 Done + 0 In Progress + 0 Pending + 2 Failed + 0 Skipped');
    expect(text).toContain('Blocked: a wave has more failures than allowed.');
    expect(summary([wave('completed', 3, 0)])).toContain('Done: nothing moves any more.');
    expect(summary([])).toContain('no wave was needed');
  });
});
