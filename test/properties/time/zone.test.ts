import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { civilDate, dayNumber, daysInMonth, isRealDate, weekday } from '../../../lib/domain/recurrence/civil.ts';
import { firstInstantAt, firstInstantFrom, stretchAt, wallAt } from '../../../lib/domain/recurrence/zone.ts';
import { at, nextTransition, ZONES } from '../../support/clock-walk.ts';

const instant = fc.integer({ min: at('1972-01-01T00:00Z'), max: at('2099-12-31T00:00Z') });
const zone = fc.constantFrom(...ZONES);

describe('calendar arithmetic', () => {
  it('agrees with the platform on every day of 1600 to 2400', () => {
    for (let day = dayNumber(1600, 1, 1); day < dayNumber(2400, 1, 1); day++) {
      const date = new Date(day * 86_400_000);
      const { year, month, day: dayOfMonth } = civilDate(day);
      const same = year === date.getUTCFullYear() && month === date.getUTCMonth() + 1 && dayOfMonth === date.getUTCDate();
      if (!same || weekday(day) !== date.getUTCDay() || dayNumber(year, month, dayOfMonth) !== day) expect.fail(date.toISOString());
    }
  });

  it('knows real dates', () => {
    expect([isRealDate(2028, 2, 29), isRealDate(2026, 2, 29), isRealDate(2100, 2, 29), isRealDate(2000, 2, 29)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect([isRealDate(2026, 13, 1), isRealDate(2026, 0, 1), isRealDate(2026, 1, 0), isRealDate(2026, 4, 31)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(daysInMonth(2026, 12)).toBe(31);
  });
});

describe('offsets', () => {
  it('every change of offset of each zone in 40 years is found, to the millisecond', () => {
    for (const name of ZONES) {
      const until = at('2038-01-01T00:00Z');
      const expected: number[] = [];
      for (let t = nextTransition(at('1998-01-01T00:00Z'), name); t !== null && t < until; t = nextTransition(t, name)) expected.push(t);
      const found: number[] = [];
      for (let s = stretchAt(name, at('1998-01-01T00:00Z')); s.until < until; ) {
        const next = stretchAt(name, s.until);
        if (next.offset !== s.offset) found.push(next.from);
        s = next;
      }
      expect([name, found]).toEqual([name, expected]);
    }
  });

  it('an instant lies in its stretch, and stretches follow one another without a break', () => {
    fc.assert(
      fc.property(zone, instant, (name, t) => {
        const stretch = stretchAt(name, t);
        expect(stretch.from <= t && t < stretch.until).toBe(true);
        expect(stretchAt(name, stretch.until).from).toBe(stretch.until);
      }),
      { numRuns: 1_000 },
    );
  });

  it('the first instant that shows a wall time shows it, and none before did', () => {
    fc.assert(
      fc.property(zone, instant, (name, t) => {
        const wall = wallAt(name, t);
        const first = firstInstantAt(name, wall);
        expect(first).not.toBeNull();
        expect(first).toBeLessThanOrEqual(t);
        expect(firstInstantFrom(name, wall)).toBe(first);
        if (first !== null) expect(wallAt(name, first)).toBe(wall);
        expect(wallAt(name, (first ?? 0) - 1)).not.toBe(wall);
      }),
      { numRuns: 1_000 },
    );
  });
});
