import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCron } from '../../../lib/domain/recurrence/cron.ts';
import { nextFires } from '../../../lib/domain/recurrence/fires.ts';
import { CALL_PATIENCE, fireProblem, lateReason, missedFire, type Schedule } from '../../../lib/domain/recurrence/schedule.ts';
import { MINUTE, SECOND } from '../../../lib/domain/shared/time.ts';
import { at } from '../../support/clock-walk.ts';

const START = at('2026-03-28T22:00Z');
const MINUTES = 600;
const TEXTS = ['* * * * *', '*/2 * * * *', '*/7 1-4 * * *', '30 * * * *', '30 2 * * *', '0 0 29 * SUN'];

/** What a minute's call does on its way: nobody calls, or it arrives after so many seconds, perhaps twice. */
const call = fc.record({ lost: fc.boolean(), delay: fc.constantFrom(0, 1, 30, 59, 61, 200, 3_000), twice: fc.boolean() });

const days = fc.record({
  text: fc.constantFrom(...TEXTS),
  time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
  /** Since when, in seconds after the start. */
  since: fc.integer({ min: 0, max: 120 * 60 }),
  calls: fc.array(call, { minLength: MINUTES, maxLength: MINUTES }),
  /** The service is down from … for … minutes. */
  down: fc.record({ from: fc.integer({ min: 0, max: MINUTES }), length: fc.integer({ min: 0, max: 240 }) }),
});

test('whatever the scheduler does: each named minute at most once, none but named ones, none lost but those of an outage', () => {
  fc.assert(
    fc.property(days, ({ text, time_zone, since, calls, down }) => {
      const parsed = parseCron(text);
      if (!parsed.ok) throw new Error(parsed.reason);
      const schedule: Schedule = { cron: parsed.cron, time_zone, since: START + since * SECOND };
      const [downFrom, downTo] = [START + down.from * MINUTE, START + (down.from + down.length) * MINUTE];
      const isDown = (t: number): boolean => t >= downFrom && t < downTo;

      const events = calls.flatMap(({ lost, delay, twice }, i) => {
        const minute = START + i * MINUTE;
        const arrives = { t: minute + delay * SECOND, minute };
        return [{ t: minute, minute: null }, ...(lost ? [] : [arrives]), ...(twice ? [{ ...arrives, t: arrives.t + 200 }] : [])];
      });
      const fired: { due: number; at: number; late: string | null }[] = [];
      for (const { t, minute } of events.sort((a, b) => a.t - b.t)) {
        if (isDown(t)) continue;
        const last = fired.at(-1)?.due ?? null;
        const due = minute === null ? missedFire(schedule, last, t) : fireProblem(schedule, minute, last, t) === null ? minute : null;
        if (due !== null) fired.push({ due, at: t, late: lateReason(schedule, due, last, t) });
      }

      const end = START + (MINUTES - 2) * MINUTE;
      const named = nextFires(parsed.cron, time_zone, schedule.since, MINUTES).filter((fire) => fire <= end - CALL_PATIENCE);
      const dues = fired.map((fire) => fire.due);
      expect(dues).toEqual([...new Set(dues)].sort((a, b) => a - b));
      for (const { due } of fired) expect(fireProblem(schedule, due, null, due)).toBeNull();
      // Missed ones lie in the outage, the last of them excepted, which came late.
      const lost = named.filter((due) => !dues.includes(due) && !isDown(end));
      for (const due of lost) expect(due >= downFrom - 2 * MINUTE && due < downTo).toBe(true);
      const late = fired.filter((fire) => fire.late !== null);
      for (const { at: started } of late) expect(started).toBeGreaterThanOrEqual(downTo);
      expect(late.length, 'of several missed ones only the latest').toBeLessThanOrEqual(1);
      expect(late.length).toBeGreaterThanOrEqual(Math.min(1, lost.length));
    }),
    { numRuns: 300 },
  );
});
