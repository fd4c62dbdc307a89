import { describe, expect, it } from 'vitest';
import { isOpen, nextClosing, nextOpening, openings } from '../../../lib/domain/windows/openings.ts';
import { parseWindow } from '../../../lib/domain/windows/parse-window.ts';
import type { MaintenanceWindow } from '../../../lib/domain/windows/window.ts';
import { at, iso } from '../../support/clock-walk.ts';
import { fastest } from '../../support/fastest.ts';

function window(zone: string, slots: unknown[], freezes: unknown[] = []): MaintenanceWindow {
  const parsed = parseWindow({ time_zone: zone, time_slots: slots, freezes });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.window;
}

function spans(w: MaintenanceWindow, from: string, count: number): string[] {
  return openings(w, at(from), count).map((o) => `${iso(o.opens_at)} ${iso(o.closes_at)}`);
}

const BERLIN = 'Europe/Berlin';
const NIGHT = { start: '02:00', end: '04:00' };

describe('opening and closing', () => {
  it('B27: half-open, judged at the moment of the start', () => {
    const w = window('UTC', [NIGHT]);
    const starts = ['02:00', '02:45', '03:30', '04:15'].map((time) => isOpen(w, at(`2026-06-01T${time}Z`)));
    expect(starts).toEqual([true, true, true, false]);
    // Picked at 03:59:59, its start would be recorded at 04:00:01.
    expect(isOpen(w, at('2026-06-01T03:59:59Z'))).toBe(true);
    expect(iso(nextClosing(w, at('2026-06-01T03:59:59Z')))).toBe('2026-06-01T04:00:00Z');
    expect(isOpen(w, at('2026-06-01T04:00:01Z'))).toBe(false);
    expect(isOpen(w, at('2026-06-01T04:00:00Z'))).toBe(false);
    expect(isOpen(w, at('2026-06-01T01:59:59.999Z'))).toBe(false);
    expect(iso(nextOpening(w, at('2026-06-01T04:15Z')))).toBe('2026-06-02T02:00:00Z');
  });

  it('the next opening is strictly after now, also while it is open', () => {
    const w = window('UTC', [NIGHT]);
    expect(iso(nextOpening(w, at('2026-06-01T02:00Z')))).toBe('2026-06-02T02:00:00Z');
    expect(iso(nextClosing(w, at('2026-06-01T04:00Z')))).toBe('2026-06-02T04:00:00Z');
    expect(iso(nextClosing(w, at('2026-06-01T01:00Z')))).toBe('2026-06-01T04:00:00Z');
  });

  it('a night belongs to the day it starts on', () => {
    // 2026-06-05 is a Friday.
    const w = window(BERLIN, [{ days: ['fri'], start: '22:00', end: '04:00' }]);
    expect(spans(w, '2026-06-01T00:00Z', 2)).toEqual([
      '2026-06-05T20:00:00Z 2026-06-06T02:00:00Z',
      '2026-06-12T20:00:00Z 2026-06-13T02:00:00Z',
    ]);
    expect(isOpen(w, at('2026-06-04T23:00Z'))).toBe(false);
    expect(isOpen(w, at('2026-06-05T23:00Z'))).toBe(true);
  });

  it('the night from Sunday runs into the next week without a break', () => {
    const w = window(BERLIN, [{ days: ['sun'], start: '22:00', end: '04:00' }]);
    expect(spans(w, '2026-06-01T12:00Z', 1)).toEqual(['2026-06-07T20:00:00Z 2026-06-08T02:00:00Z']);
  });

  it('24:00 joins the next day; slots that touch or overlap are one opening', () => {
    const w = window('UTC', [
      { days: ['mon'], start: '20:00', end: '24:00' },
      { days: ['tue'], start: '00:00', end: '02:00' },
      { days: ['tue'], start: '01:00', end: '03:00' },
    ]);
    expect(spans(w, '2026-06-01T00:00Z', 1)).toEqual(['2026-06-01T20:00:00Z 2026-06-02T03:00:00Z']);
  });

  it('days left out = every day; the whole day every day never closes', () => {
    const w = window(BERLIN, [{ start: '00:00', end: '24:00' }]);
    expect(openings(w, at('2026-06-01T00:00Z'), 10)).toEqual([{ opens_at: at('2026-06-01T00:00Z'), closes_at: null }]);
    expect(nextClosing(w, 0)).toBeNull();
    expect(nextOpening(w, 0)).toBeNull();
    const halves = window(BERLIN, [
      { start: '06:00', end: '18:00' },
      { start: '18:00', end: '06:00' },
    ]);
    expect(nextClosing(halves, 0)).toBeNull();
  });

  it('the first opening begins at the given instant when it is open then', () => {
    expect(spans(window('UTC', [NIGHT]), '2026-06-01T03:10Z', 2)).toEqual([
      '2026-06-01T03:10:00Z 2026-06-01T04:00:00Z',
      '2026-06-02T02:00:00Z 2026-06-02T04:00:00Z',
    ]);
  });

  it('a window of one minute is found between two ticks', () => {
    const w = window('UTC', [{ start: '02:00', end: '02:01' }]);
    expect(spans(w, '2026-06-01T01:59:30Z', 1)).toEqual(['2026-06-01T02:00:00Z 2026-06-01T02:01:00Z']);
    expect(spans(w, '2026-06-01T02:01:00Z', 1)).toEqual(['2026-06-02T02:00:00Z 2026-06-02T02:01:00Z']);
  });

  it('leap day and year end are days like any other', () => {
    const w = window('UTC', [{ days: ['tue', 'thu'], start: '22:00', end: '02:00' }]);
    // 2028-02-29 is a Tuesday, 2026-12-31 a Thursday.
    expect(spans(w, '2028-02-29T00:00Z', 1)).toEqual(['2028-02-29T22:00:00Z 2028-03-01T02:00:00Z']);
    expect(spans(w, '2026-12-31T00:00Z', 1)).toEqual(['2026-12-31T22:00:00Z 2027-01-01T02:00:00Z']);
  });

  it('half-hour zones', () => {
    expect(spans(window('Asia/Kolkata', [NIGHT]), '2026-06-01T00:00Z', 1)).toEqual(['2026-06-01T20:30:00Z 2026-06-01T22:30:00Z']);
  });
});

describe('clock changes', () => {
  it('a slot wholly inside the spring gap does not open', () => {
    const w = window(BERLIN, [{ start: '02:00', end: '03:00' }]);
    expect(spans(w, '2026-03-28T12:00Z', 1)).toEqual(['2026-03-30T00:00:00Z 2026-03-30T01:00:00Z']);
  });

  it('a slot partly in the gap is shorter', () => {
    const w = window(BERLIN, [{ start: '01:30', end: '02:30' }]);
    expect(spans(w, '2026-03-28T12:00Z', 1)).toEqual(['2026-03-29T00:30:00Z 2026-03-29T01:00:00Z']);
    const late = window(BERLIN, [{ start: '02:30', end: '03:30' }]);
    expect(spans(late, '2026-03-28T12:00Z', 1)).toEqual(['2026-03-29T01:00:00Z 2026-03-29T01:30:00Z']);
  });

  it('a slot in the repeated hour opens twice', () => {
    const w = window(BERLIN, [{ start: '02:15', end: '02:45' }]);
    expect(spans(w, '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:15:00Z 2026-10-25T00:45:00Z',
      '2026-10-25T01:15:00Z 2026-10-25T01:45:00Z',
    ]);
  });

  it('a slot that spans the whole repeated hour is one longer opening', () => {
    const w = window(BERLIN, [{ start: '01:00', end: '04:00' }]);
    expect(spans(w, '2026-10-24T12:00Z', 1)).toEqual(['2026-10-24T23:00:00Z 2026-10-25T03:00:00Z']);
  });

  it('the whole repeated hour is one opening of two hours', () => {
    const w = window(BERLIN, [{ start: '02:00', end: '03:00' }]);
    expect(spans(w, '2026-10-24T12:00Z', 1)).toEqual(['2026-10-25T00:00:00Z 2026-10-25T02:00:00Z']);
  });

  it('a clock that jumps over midnight (Beirut): the new day begins at 01:00', () => {
    const w = window('Asia/Beirut', [{ days: ['sun'], start: '00:00', end: '02:00' }]);
    // 2026-03-29 00:00 (+02) becomes 01:00 (+03).
    expect(spans(w, '2026-03-27T00:00Z', 1)).toEqual(['2026-03-28T22:00:00Z 2026-03-28T23:00:00Z']);
  });

  it('a skipped day (Apia, Friday 2011-12-30) has no slots of its own, but its night goes on', () => {
    const day = window('Pacific/Apia', [{ days: ['fri'], start: '08:00', end: '10:00' }]);
    expect(spans(day, '2011-12-28T00:00Z', 1)).toEqual(['2012-01-05T18:00:00Z 2012-01-05T20:00:00Z']);
    const night = window('Pacific/Apia', [{ days: ['fri'], start: '22:00', end: '04:00' }]);
    expect(spans(night, '2011-12-28T00:00Z', 1)).toEqual(['2011-12-30T10:00:00Z 2011-12-30T14:00:00Z']);
  });
});

describe('freezes', () => {
  it('dates are whole days in the zone of the window, the last one included', () => {
    const w = window(BERLIN, [{ start: '00:00', end: '24:00' }], [{ from: '2026-12-20', to: '2027-01-02' }]);
    expect(spans(w, '2026-12-01T00:00Z', 9)).toEqual(['2026-12-01T00:00:00Z 2026-12-19T23:00:00Z', '2027-01-02T23:00:00Z null']);
  });

  it('instants exclude their end', () => {
    const w = window('UTC', [NIGHT], [{ from: '2026-06-01T02:30:00Z', to: '2026-06-01T05:00:00+02:00' }]);
    expect(spans(w, '2026-06-01T00:00Z', 2)).toEqual([
      '2026-06-01T02:00:00Z 2026-06-01T02:30:00Z',
      '2026-06-01T03:00:00Z 2026-06-01T04:00:00Z',
    ]);
  });

  it('win over slots, also when they follow one another', () => {
    const w = window(
      'UTC',
      [NIGHT],
      [
        { from: '2026-06-01', to: '2026-06-01' },
        { from: '2026-06-02', to: '2026-06-02' },
        { from: '2026-06-03T00:00:00Z', to: '2026-06-03T03:59:00Z' },
      ],
    );
    expect(spans(w, '2026-06-01T02:30Z', 1)).toEqual(['2026-06-03T03:59:00Z 2026-06-03T04:00:00Z']);
  });

  it('a freeze of a day with a clock change is 23 or 25 hours long', () => {
    const w = window(
      BERLIN,
      [{ start: '00:00', end: '24:00' }],
      [
        { from: '2026-03-29', to: '2026-03-29' },
        { from: '2026-10-25', to: '2026-10-25' },
      ],
    );
    expect(spans(w, '2026-03-01T00:00Z', 3).slice(0, 2)).toEqual([
      '2026-03-01T00:00:00Z 2026-03-28T23:00:00Z',
      '2026-03-29T22:00:00Z 2026-10-24T22:00:00Z',
    ]);
    expect(iso(nextOpening(w, at('2026-10-25T12:00Z')))).toBe('2026-10-25T23:00:00Z');
  });

  it('a freeze of centuries is passed over at once', () => {
    const w = window(BERLIN, [NIGHT], [{ from: '2026-01-01', to: '9998-12-31' }]);
    expect(iso(nextOpening(w, at('2026-06-01T00:00Z')))).toBe('9999-01-01T01:00:00Z');
    expect(fastest(() => nextOpening(w, at('2026-06-01T00:00Z')))).toBeLessThan(50);
  });
});

describe('speed', () => {
  it('10,000 next openings take less than a second', () => {
    const zones = [BERLIN, 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];
    const all = () => {
      // A new object each time, as windows come from the table.
      for (let i = 0; i < 10_000; i++) nextOpening({ ...window0, time_zone: zones[i % 4] ?? 'UTC' }, at0 + (i % 4_000) * 3_600_000);
    };
    const window0 = window(BERLIN, [{ days: ['mon', 'wed'], start: '22:00', end: '04:00' }], [{ from: '2026-12-20', to: '2027-01-02' }]);
    const at0 = at('2026-11-29T00:00Z');
    expect(fastest(all)).toBeLessThan(1_000);
  });
});
