import { describe, expect, it } from 'vitest';
import { parseWindow } from '../../../lib/domain/windows/parse-window.ts';

const SLOT = { days: ['mon', 'tue'], start: '22:00', end: '04:00' };
const GOOD = { time_zone: 'Europe/Berlin', time_slots: [SLOT], freezes: [{ from: '2026-12-20', to: '2027-01-02', reason: 'year end' }] };

function problems(json: unknown): string[] {
  const parsed = parseWindow(json);
  return parsed.ok ? [] : parsed.problems.map((p) => `${p.path}: ${p.reason}`);
}

describe('a window is checked when it is saved', () => {
  it('takes the window of the fleet file as it is', () => {
    expect(parseWindow(GOOD)).toEqual({ ok: true, window: GOOD });
  });

  it('keeps its meaning when read again', () => {
    const first = parseWindow({
      time_zone: 'UTC',
      time_slots: [
        { days: ['Sun', 'MON', 'sun'], start: '00:00', end: '24:00' },
        { start: '09:00', end: '09:01' },
      ],
    });
    expect(first).toEqual({
      ok: true,
      window: {
        time_zone: 'UTC',
        time_slots: [
          { days: ['mon', 'sun'], start: '00:00', end: '24:00' },
          { start: '09:00', end: '09:01' },
        ],
        freezes: [],
      },
    });
    expect(first.ok && parseWindow(JSON.parse(JSON.stringify(first.window)))).toEqual(first);
  });

  it.each([
    [/^: must be an object/, null],
    [/^: must be an object/, 'always'],
    [/^: must be an object/, []],
    [/^time_zone: must be the name/, { ...GOOD, time_zone: undefined }],
    [/^time_zone: .*not a known time zone/, { ...GOOD, time_zone: 'Europe/Berln' }],
    [/^timezone: is not known/, { ...GOOD, timezone: 'UTC' }],
    [/^time_slots: must be a list/, { ...GOOD, time_slots: undefined }],
    [/^time_slots: .*never open/, { ...GOOD, time_slots: [] }],
    [/^time_slots\[0\]: must be an object/, { ...GOOD, time_slots: ['22:00-04:00'] }],
    [/^time_slots: .*at most 100/, { ...GOOD, time_slots: Array(101).fill(SLOT) }],
    [/^time_slots\[0\]\.day: is not known/, { ...GOOD, time_slots: [{ ...SLOT, day: 'mon' }] }],
    [/^time_slots\[0\]\.days: .*never open/, { ...GOOD, time_slots: [{ ...SLOT, days: [] }] }],
    [/^time_slots\[0\]\.days: must be a list/, { ...GOOD, time_slots: [{ ...SLOT, days: 'mon' }] }],
    [/^time_slots\[0\]\.days\[1\]: "monday" is not a day/, { ...GOOD, time_slots: [{ ...SLOT, days: ['mon', 'monday'] }] }],
    [/^time_slots\[0\]\.days\[0\]: 1 is not a day/, { ...GOOD, time_slots: [{ ...SLOT, days: [1] }] }],
    [/^time_slots\[0\]\.start: must be a time HH:MM/, { ...GOOD, time_slots: [{ ...SLOT, start: '9:00' }] }],
    [/^time_slots\[0\]\.start: .*00:00 to 23:59/, { ...GOOD, time_slots: [{ ...SLOT, start: '24:00' }] }],
    [/^time_slots\[0\]\.start: .*quotes/, { ...GOOD, time_slots: [{ ...SLOT, start: 1320 }] }],
    [/^time_slots\[0\]\.end: .*00:00 to 24:00/, { ...GOOD, time_slots: [{ ...SLOT, end: '24:01' }] }],
    [/^time_slots\[0\]\.end/, { ...GOOD, time_slots: [{ ...SLOT, end: '04:00:30' }] }],
    [/^time_slots\[0\]\.end/, { ...GOOD, time_slots: [{ ...SLOT, end: '04:60' }] }],
    [/^time_slots\[1\]\.end: is the same as start/, { ...GOOD, time_slots: [SLOT, { ...SLOT, end: '22:00' }] }],
    [/^freezes: must be a list/, { ...GOOD, freezes: {} }],
    [/^freezes\[0\]\.until: is not known/, { ...GOOD, freezes: [{ from: '2026-12-20', to: '2027-01-01', until: 1 }] }],
    [/^freezes\[0\]\.from: must be a date/, { ...GOOD, freezes: [{ from: '2026-02-29', to: '2026-03-01' }] }],
    [/^freezes\[0\]\.from: must be a date/, { ...GOOD, freezes: [{ from: '2026-12-20T18:00', to: '2026-12-21' }] }],
    [/^freezes\[0\]\.to: must be a date/, { ...GOOD, freezes: [{ from: '2026-12-20', to: '20.12.2026' }] }],
    [/^freezes\[0\]\.to: 2026-12-19 is not after/, { ...GOOD, freezes: [{ from: '2026-12-20', to: '2026-12-19' }] }],
    [/^freezes\[0\]\.to: .*not after/, { ...GOOD, freezes: [{ from: '2026-12-20T18:00:00Z', to: '2026-12-20T18:00:00Z' }] }],
    [/^freezes\[0\]\.reason: must be text/, { ...GOOD, freezes: [{ from: '2026-12-20', to: '2026-12-21', reason: 7 }] }],
  ])('refuses %s', (expected, json) => {
    expect(problems(json)).toEqual([expect.stringMatching(expected)]);
  });

  it('names every mistake at once', () => {
    expect(problems({ time_zone: 'X/Y', time_slots: [{ start: '1', end: '2' }], freezes: [{ from: 'x', to: 'y' }] })).toHaveLength(5);
  });
});
