import { describe, expect, it } from 'vitest';
import { bar, coloured, cut, frame, plain, plainLine, type View, type WaveLine } from '../../../local/terminal/frame.ts';
import { durationWords, heldBy, heldWords } from '../../../local/terminal/words.ts';

const NOW = 1_700_000_000_000;
const counters = { total: 27, done: 13, in_progress: 6, pending: 5, failed: 1, skipped: 2 };
const wave: WaveLine = {
  id: 'w',
  title: 'polycrate-operator → 0.34.0',
  status: 'active',
  counters,
  failure_rate: 4,
  held: [
    { code: 'canary_gate', count: 4, detail: '6 of 6 in use', until: null },
    { code: 'retry_backoff', count: 1, detail: null, until: NOW + 58_000 },
  ],
  running: ['fra-1', 'fra-2'],
};
const view: View = {
  now: NOW,
  address: 'http://127.0.0.1:8787/',
  clusters: 30,
  desired_version: '0.34.0',
  waves: [wave],
  histogram: [
    { version: '0.34.0', count: 16 },
    { version: null, count: 2 },
  ],
  events: ['12:00:01  fra-1 is at 0.34.0'],
};

describe('words', () => {
  it.each([
    [0, '0 s'],
    [1, '1 s'],
    [59_000, '59 s'],
    [60_000, '1 min'],
    [200_000, '3 min 20 s'],
    [11_520_000, '3 h 12 min'],
    [86_400_000, '1 d'],
    [100_800_000, '1 d 4 h'],
  ])('%d ms are %s', (length, words) => {
    expect(durationWords(length)).toBe(words);
  });

  it.each([
    [{ code: 'agent_silent', count: 2, detail: null, until: null }, '2 wait for silent agents'],
    [{ code: 'agent_silent', count: 1, detail: null, until: null }, '1 waits for a silent agent'],
    [
      { code: 'window_closed', count: 3, detail: '22:00 Europe/Berlin', until: NOW + 11_520_000 },
      '3 wait for the maintenance window, opens in 3 h 12 min (22:00 Europe/Berlin)',
    ],
    [
      { code: 'freeze', count: 1, detail: '22:00 Europe/Berlin; year end', until: NOW + 86_400_000 },
      '1 is frozen, opens in 1 d (22:00 Europe/Berlin; year end)',
    ],
    [
      { code: 'freeze', count: 1, detail: 'year end', until: Date.parse('9999-12-30T22:00:00Z') },
      '1 is frozen, opens on 9999-12-30 (year end)',
    ],
    [
      { code: 'cluster_paused', count: 2, detail: null, until: Date.parse('9999-12-31T23:59:59Z') },
      '2 are on a paused cluster until 9999-12-31',
    ],
    [{ code: 'retry_backoff', count: 1, detail: null, until: NOW + 58_000 }, '1 tries again in 58 s'],
    [
      { code: 'agent_missing', count: 1, detail: 'no_agent_token', until: null },
      '1 waits for an agent that has never reported (the cluster has no agent key)',
    ],
    [{ code: 'starting', count: 4, detail: null, until: null }, '4 are about to start'],
    [{ code: 'something_new', count: 4, detail: null, until: null }, '4 are held: something new'],
  ])('says %j', (held, words) => {
    expect(heldWords(held, NOW)).toBe(words);
  });

  it('groups waiting items by what holds them first, a missing contact aside', () => {
    const blocker = (code: 'agent_silent' | 'no_free_slot' | 'contact_missing', until: number | null = null) => ({
      code,
      detail: null,
      until,
    });
    expect(
      heldBy([
        { blockers: [blocker('no_free_slot'), blocker('contact_missing')] },
        { blockers: [blocker('no_free_slot', 5)] },
        { blockers: [blocker('agent_silent'), blocker('no_free_slot')] },
        { blockers: [blocker('contact_missing')] },
      ]),
    ).toEqual([
      { code: 'no_free_slot', count: 2, detail: null, until: 5 },
      { code: 'agent_silent', count: 1, detail: null, until: null },
      { code: 'starting', count: 1, detail: null, until: null },
    ]);
  });
});

describe('the progress view', () => {
  it('says the sum, what holds the rest and until when, who is running, the versions and the last events', () => {
    const text = frame(view, 140, plain).join('\n');
    expect(text).toContain('30 clusters, operator to 0.34.0  http://127.0.0.1:8787/');
    expect(text).toContain('polycrate-operator → 0.34.0  active');
    expect(text).toContain('59 %  Total 27 = 13 Done + 6 In Progress + 5 Pending + 1 Failed + 2 Skipped');
    expect(text).toContain('4 wait for a free place (6 of 6 in use); 1 tries again in 58 s');
    expect(text).toContain('running: fra-1, fra-2');
    expect(text).toContain('16 × 0.34.0  2 × unknown');
    expect(text).toContain('fra-1 is at 0.34.0');
    expect(text).toContain('Ctrl-C stops');
  });

  it('is one whole line per wave without a terminal', () => {
    expect(plainLine(wave, NOW)).toBe(
      'polycrate-operator → 0.34.0  active  59 %  Total 27 = 13 Done + 6 In Progress + 5 Pending + 1 Failed + 2 Skipped  | 4 wait for a free place (6 of 6 in use); 1 tries again in 58 s',
    );
    expect(plainLine({ ...wave, status: 'blocked', failure_rate: 33.333, held: [] }, NOW)).toContain('blocked (33.3 % failed)');
  });

  it('has no colour codes when it is plain, and the same columns when it is not', () => {
    const control = String.fromCharCode(27);
    expect(frame(view, 100, plain).join('')).not.toContain(control);
    const bare = frame(view, 100, coloured).map((line) => line.replaceAll(new RegExp(`${control}\\[\\d+m`, 'g'), ''));
    expect(bare).toEqual(frame(view, 100, plain));
  });

  it.each([20, 40, 80, 200])('fits into %d columns', (width) => {
    for (const line of frame(view, width, plain)) expect([...line].length).toBeLessThanOrEqual(width);
  });

  it('cuts without leaving a colour open', () => {
    expect(cut(coloured('red', 'abcdef'), 4)).toBe('\u001b[31mabc\u001b[0m…\u001b[0m');
    expect(cut('abc', 3)).toBe('abc');
  });

  it('fills the whole bar and no more', () => {
    expect([...bar(counters, 27, plain)]).toHaveLength(27);
    expect(bar({ ...counters, total: 0 }, 10, plain)).toBe('·'.repeat(10));
    expect(bar({ total: 2, done: 2, in_progress: 0, pending: 0, failed: 0, skipped: 0 }, 10, plain)).toBe('█'.repeat(10));
  });

  it('says what it means that there is no wave', () => {
    expect(frame({ ...view, waves: [] }, 140, plain).join('\n')).toContain('No wave yet');
  });
});
