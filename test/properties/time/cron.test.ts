import { Cron as Croner } from 'croner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cron, parseCron } from '../../../lib/domain/recurrence/cron.ts';
import { toEventBridge } from '../../../lib/domain/recurrence/eventbridge.ts';
import { firesAt, latestFire, nextFire, nextFires } from '../../../lib/domain/recurrence/fires.ts';
import { DAY, HOUR, MINUTE } from '../../../lib/domain/shared/time.ts';
import { awsCron } from '../../support/aws-cron.ts';
import { at, minutes, nextTransition, shown, ZONES } from '../../support/clock-walk.ts';
import { knownCron } from '../../support/time-arbitraries.ts';

const zone = fc.constantFrom(...ZONES);
const instant = fc.integer({ min: at('2000-01-01T00:00Z'), max: at('2060-01-01T00:00Z') });
/** Half of the starts lie within a day before a change of the zone's clock. */
const start = fc.tuple(zone, instant, fc.boolean(), fc.integer({ min: -HOUR * 3, max: HOUR * 20 })).map(([name, t, near, before]) => {
  const change = near ? nextTransition(t, name) : null;
  return { name, t: change === null ? t : change - before };
});

function parse(text: string): Cron | null {
  const parsed = parseCron(text);
  if (!parsed.ok && !parsed.reason.includes('never comes')) throw new Error(`${text}: ${parsed.field} ${parsed.reason}`);
  return parsed.ok ? parsed.cron : null;
}

describe('cron properties', () => {
  it('fires at exactly those minutes that a walk over the clock finds, each wall-clock time once', () => {
    fc.assert(
      fc.property(knownCron, start, (known, { name, t }) => {
        const cron = parse(known.text);
        if (cron === null) return;
        const until = t + 26 * HOUR;
        const expected = [...minutes(t + 1, until + 1, name)].filter((s) => !s.repeated && known.names(s)).map((s) => s.instant);
        expect(nextFires(cron, name, t, expected.length + 1).filter((fire) => fire <= until)).toEqual(expected);
        expect(latestFire(cron, name, t, until)).toBe(expected.at(-1) ?? null);
      }),
      { numRuns: 150 },
    );
  });

  it('the next fire is later, is a fire, and nothing fires in between', () => {
    fc.assert(
      fc.property(knownCron, start, fc.double({ min: 0, max: 1, noNaN: true }), (known, { name, t }, share) => {
        const cron = parse(known.text);
        if (cron === null) return;
        const next = nextFire(cron, name, t);
        if (next === null) throw new Error('an accepted cron always fires again');
        expect(next).toBeGreaterThan(t);
        expect(firesAt(cron, name, next)).toBe(true);
        expect(known.names(shown(next, name)) && !shown(next, name).repeated).toBe(true);
        const between = Math.ceil((t + 1 + share * (next - t - 1)) / MINUTE) * MINUTE;
        if (between < next) expect(firesAt(cron, name, between)).toBe(false);
        expect(nextFire(cron, name, next - 1)).toBe(next);
        expect(latestFire(cron, name, t, next)).toBe(next);
        expect(latestFire(cron, name, t, next - 1)).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees with croner where no clock changes', () => {
    fc.assert(
      fc.property(knownCron, instant, (known, t) => {
        const cron = parse(known.text);
        // croner takes a star with a step for a given field (Vixie cron and we do not), and SUN-SUN for the whole week.
        const star = cron?.either_day || / \* \S+ \S+$| \*$/.test(known.text);
        if (cron === null || !star || /sun-sun/i.test(known.text)) return;
        const expected = new Croner(cron.text, { timezone: 'UTC' }).nextRuns(3, new Date(t)).map((date) => date.getTime());
        expect(nextFires(cron, 'UTC', t, expected.length)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('the EventBridge schedules call at every fire, and at no other minute unless both day fields must match', () => {
    fc.assert(
      fc.property(knownCron, fc.array(instant, { minLength: 20, maxLength: 20 }), (known, instants) => {
        const cron = parse(known.text);
        if (cron === null) return;
        const { expressions, timezone } = toEventBridge(cron, 'UTC');
        const calls = expressions.map(awsCron);
        const exact = cron.either_day || cron.days_of_month.length === 31 || cron.weekdays.length === 7;
        expect(timezone).toBe('UTC');
        // Random minutes, minutes of a matching hour, and real fires of both systems.
        const probes = instants.flatMap((t) => [t, nextFire(cron, 'UTC', t) ?? t, (nextFire(cron, 'UTC', t) ?? t) + DAY]);
        for (const probe of probes) {
          const s = shown(Math.floor(probe / MINUTE) * MINUTE, 'UTC');
          const called = calls.some((call) => call(s));
          const fires = firesAt(cron, 'UTC', s.instant);
          if (fires) expect(called).toBe(true);
          if (exact) expect(called).toBe(fires);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('every day of four years: the translated days are the named days', () => {
    fc.assert(
      fc.property(knownCron, (known) => {
        const cron = parse(known.text);
        if (cron === null) return;
        const calls = toEventBridge(cron, 'UTC').expressions.map(awsCron);
        const exact = cron.either_day || cron.days_of_month.length === 31 || cron.weekdays.length === 7;
        const clock = { hour: cron.hours[0] ?? 0, minute: cron.minutes[0] ?? 0 };
        for (let day = at('2026-01-01T00:00Z'); day < at('2030-01-01T00:00Z'); day += DAY) {
          const date = new Date(day);
          const moment = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), ...clock };
          const named = known.names({ ...moment, weekday: date.getUTCDay() });
          const called = calls.some((call) => call(moment));
          if (exact ? called !== named : named && !called) expect.fail(`${known.text} on ${date.toISOString()}`);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('any text at all is answered', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(fc.constantFrom(...'0123456789*/,-LW#? MONJAN'), { maxLength: 30 }).map((c) => c.join('')),
        ),
        (text) => {
          const parsed = parseCron(text);
          if (parsed.ok) expect(nextFire(parsed.cron, 'UTC', 0)).not.toBeNull();
          else expect(parsed.reason.length).toBeGreaterThan(10);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
