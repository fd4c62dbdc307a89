import { describe, expect, it } from 'vitest';
import type { View } from '../../../local/terminal/frame.ts';
import { screenFor } from '../../../local/terminal/live.ts';

const CONTROL = String.fromCharCode(27);
const CODES = new RegExp(`${CONTROL}\\[[?\\d]*[a-zA-Z]`, 'g');
const COLOUR = new RegExp(`${CONTROL}\\[\\d+m`);

function stream(isTTY: boolean, columns = 80, rows = 24) {
  const written: string[] = [];
  return { written, isTTY, columns, rows, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
}

const view = (done: number, until: number): View => ({
  now: 0,
  address: 'http://127.0.0.1:8787/',
  clusters: 2,
  desired_version: '1.0.0',
  waves: [
    {
      id: 'w',
      title: 'operator → 1.0.0',
      status: 'active',
      counters: { total: 2, done, in_progress: 0, pending: 2 - done, failed: 0, skipped: 0 },
      failure_rate: 0,
      held: [{ code: 'retry_backoff', count: 2 - done, detail: null, until }],
      running: [],
    },
  ],
  histogram: [],
  events: [],
});

describe('where the progress goes', () => {
  it('without a terminal: a line when something changes, none when only time passes, no codes', () => {
    const out = stream(false);
    const screen = screenFor(out, {});
    for (const one of [view(0, 9000), view(0, 8000), view(1, 8000)]) screen.show(one);
    screen.say('a note');
    expect(out.written).toEqual([
      'operator → 1.0.0  active  0 %  Total 2 = 0 Done + 0 In Progress + 2 Pending + 0 Failed + 0 Skipped  | 2 try again in 9 s\n',
      'operator → 1.0.0  active  50 %  Total 2 = 1 Done + 0 In Progress + 1 Pending + 0 Failed + 0 Skipped  | 1 tries again in 8 s\n',
      'a note\n',
    ]);
  });

  it('on a terminal: draws over its own lines, within the width and height', () => {
    const out = stream(true, 40, 10);
    const screen = screenFor(out, { NO_COLOR: '1' });
    screen.show(view(0, 9000));
    screen.show(view(1, 9000));
    const lines = out.written[0]?.split('\n').length ?? 0;
    expect(lines - 1).toBeLessThanOrEqual(9);
    expect(out.written[1]).toContain(`\u001b[${lines - 1}A`);
    for (const line of out.written[0]?.replaceAll(CODES, '').split('\n') ?? []) expect([...line].length).toBeLessThan(40);
  });

  it('honours NO_COLOR and TERM=dumb', () => {
    const colours = (environment: Record<string, string>): boolean => {
      const out = stream(true);
      screenFor(out, environment).show(view(0, 0));
      return COLOUR.test(out.written.join(''));
    };
    expect([colours({}), colours({ NO_COLOR: '1' }), colours({ TERM: 'dumb' })]).toEqual([true, false, false]);
  });
});
