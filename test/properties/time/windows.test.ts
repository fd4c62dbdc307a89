import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsOf } from '../../../lib/domain/plan/holds.ts';
import { DAY, HOUR, MINUTE } from '../../../lib/domain/shared/time.ts';
import { calendarFacts, resolveWindow } from '../../../lib/domain/windows/calendar.ts';
import { firstStart } from '../../../lib/domain/windows/first-start.ts';
import { frozenUntil } from '../../../lib/domain/windows/freezes.ts';
import { isOpen, nextClosing, nextOpening, openings } from '../../../lib/domain/windows/openings.ts';
import { parseWindow } from '../../../lib/domain/windows/parse-window.ts';
import { type MaintenanceWindow, SLOT_DAYS } from '../../../lib/domain/windows/window.ts';
import { at, nextTransition, type Shown, shown, ZONES } from '../../support/clock-walk.ts';
import { candidate, facts } from '../../support/plan-facts.ts';
import { windowJson } from '../../support/time-arbitraries.ts';

function parse(json: unknown): MaintenanceWindow {
  const parsed = parseWindow(json);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.window;
}

/** A zone, an instant (often near a change of its clock) and a window with freezes around that day. */
const situation = fc
  .tuple(
    fc.constantFrom(...ZONES),
    fc.integer({ min: at('2012-02-01T00:00Z'), max: at('2060-01-01T00:00Z') }),
    fc.boolean(),
    fc.integer({ min: 0, max: 30 * HOUR }),
  )
  .chain(([zone, t, near, before]) => {
    const change = near ? nextTransition(t, zone) : null;
    const now = change === null ? t : change - before;
    return fc.record({ zone: fc.constant(zone), now: fc.constant(now), json: windowJson(zone, Math.floor(now / DAY)) });
  })
  .filter(({ json }) => parseWindow(json).ok);

const clockOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
const dateText = (s: Shown) => `${s.year}-${String(s.month).padStart(2, '0')}-${String(s.day).padStart(2, '0')}`;

/** SPEC §4 word for word, from what the clock shows and nothing else. */
function slotSays(window: MaintenanceWindow, s: Shown): boolean {
  const minute = s.hour * 60 + s.minute;
  const today = SLOT_DAYS[(s.weekday + 6) % 7];
  const yesterday = SLOT_DAYS[(s.weekday + 5) % 7];
  return window.time_slots.some(({ days = SLOT_DAYS, start, end }) => {
    const [from, to] = [clockOf(start), clockOf(end)];
    const on = (day: string | undefined) => days.some((d) => d === day);
    if (from < to) return on(today) && from <= minute && minute < to;
    return (on(today) && minute >= from) || (on(yesterday) && minute < to);
  });
}

function freezeSays(window: MaintenanceWindow, s: Shown): boolean {
  return window.freezes.some(({ from, to }) =>
    from.length === 10 ? from <= dateText(s) && dateText(s) <= to : at(from) <= s.instant && s.instant < at(to),
  );
}

describe('window properties', () => {
  it('open ⇔ the wall clock lies in a slot and no freeze holds', () => {
    fc.assert(
      fc.property(
        situation,
        fc.array(fc.integer({ min: -9 * DAY, max: 9 * DAY }), { minLength: 30, maxLength: 30 }),
        ({ zone, now, json }, offsets) => {
          const window = parse(json);
          for (const offset of [0, ...offsets]) {
            const s = shown(now + offset, zone);
            expect([s.instant, isOpen(window, s.instant)]).toEqual([s.instant, slotSays(window, s) && !freezeSays(window, s)]);
            expect(frozenUntil(window.freezes, zone, s.instant) !== null).toBe(freezeSays(window, s));
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it('minute by minute over the clock change: inside ⇔ between opening and closing', () => {
    fc.assert(
      fc.property(situation, ({ zone, now, json }) => {
        const window = parse(json);
        const from = Math.ceil(now / MINUTE) * MINUTE;
        const list = openings(window, from, 200);
        for (let t = from; t < from + 30 * HOUR; t += MINUTE) {
          const s = shown(t, zone);
          const inside = list.some((o) => o.opens_at <= t && (o.closes_at === null || t < o.closes_at));
          const says = slotSays(window, s) && !freezeSays(window, s);
          if (inside !== says || isOpen(window, t) !== says)
            expect.fail(`${new Date(t).toISOString()} ${zone} says ${says}, listed ${inside}`);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('openings are in order, never overlap or touch, and are true at both edges', () => {
    fc.assert(
      fc.property(situation, ({ now, json }) => {
        const window = parse(json);
        const list = openings(window, now, 12);
        expect(list.length).toBeGreaterThan(0);
        for (const [index, { opens_at, closes_at }] of list.entries()) {
          expect(isOpen(window, opens_at)).toBe(true);
          if (opens_at > now) expect(isOpen(window, opens_at - 1)).toBe(false);
          if (closes_at === null) continue;
          expect(closes_at).toBeGreaterThan(opens_at);
          expect(isOpen(window, closes_at)).toBe(false);
          expect(isOpen(window, closes_at - 1)).toBe(true);
          const next = list[index + 1];
          if (next !== undefined) expect(next.opens_at).toBeGreaterThan(closes_at);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('the next opening and closing alternate, and nothing changes before them', () => {
    fc.assert(
      fc.property(situation, fc.double({ min: 0, max: 1, noNaN: true }), ({ now, json }, share) => {
        const window = parse(json);
        const open = isOpen(window, now);
        const change = open ? nextClosing(window, now) : nextOpening(window, now);
        if (change === null) {
          expect(open).toBe(true);
          return;
        }
        expect(change).toBeGreaterThan(now);
        expect(isOpen(window, Math.floor(now + share * (change - 1 - now)))).toBe(open);
        expect(isOpen(window, change)).toBe(!open);
        const opposite = open ? nextOpening(window, now) : nextClosing(window, now);
        expect(opposite === null || opposite > change).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('the facts of the plan are what the calendar does, and hold until changes_at', () => {
    fc.assert(
      fc.property(situation, situation, fc.boolean(), fc.double({ min: 0, max: 1, noNaN: true }), (a, b, own, share) => {
        const sources = {
          config: own ? parse(a.json) : null,
          workspace: parse(b.json),
          organization: parse(a.json),
          systemDefault: null,
          key: 'k',
        };
        const { calendar } = resolveWindow(sources);
        const facts = calendarFacts(sources, 7, a.now);
        const { open, opens_at, closes_at } = facts.window;
        const startable = open && facts.frozen_until === null;
        expect(startable).toBe(isOpen(calendar, a.now));
        expect(opens_at).toBe(startable ? null : nextOpening(calendar, a.now));
        expect(closes_at).toBe(startable ? nextClosing(calendar, a.now) : null);
        if (facts.changes_at === null) return;
        const between = Math.floor(a.now + share * (facts.changes_at - 1 - a.now));
        // Freezes that follow one another are one, but each has a reason of its own.
        expect({ ...calendarFacts(sources, 7, between), freeze_reason: null }).toEqual({ ...facts, freeze_reason: null });
        const then = calendarFacts(sources, 7, facts.changes_at);
        expect([then.window.open, then.frozen_until === null]).not.toEqual([open, facts.frozen_until === null]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('the first start that a preview names is when window and freeze let the plan start, and not before', () => {
    const span = fc.tuple(fc.integer({ min: -DAY, max: 5 * DAY }), fc.integer({ min: MINUTE, max: 2 * DAY }));
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(situation, situation, fc.array(span, { maxLength: 2 }), shares, (a, b, spans, parts) => {
        const sources = { config: null, workspace: parse(b.json), organization: parse(a.json), systemDefault: null };
        const maintenances = spans.map(([from, length]) => ({ from: a.now + from, until: a.now + from + length }));
        const holds = (t: number): string[] => {
          const active = maintenances.filter(({ from, until }) => from <= t && t < until).map(({ until }) => until);
          const active_maintenance_until = active.length === 0 ? null : Math.max(...active);
          const asked = candidate('i', {}, { calendar: calendarFacts({ ...sources, key: 'k' }, 1, t), active_maintenance_until });
          const codes = holdsOf(facts({ candidates: [asked] }), asked, t).map(({ code }) => code);
          return codes.filter((code) => code === 'window_closed' || code === 'freeze');
        };
        const first = firstStart(resolveWindow(sources).calendar, maintenances, a.now);
        if (first === null) expect.fail('such a window opens again');
        expect(holds(first)).toEqual([]);
        for (const part of parts) {
          const before = Math.floor(a.now + part * (first - a.now));
          if (before < first) expect(holds(before), new Date(before).toISOString()).not.toEqual([]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('the order of slots and freezes changes nothing', () => {
    fc.assert(
      fc.property(situation, ({ now, json }) => {
        const window = parse(json);
        const turned = { ...window, time_slots: window.time_slots.toReversed(), freezes: window.freezes.toReversed() };
        expect(openings(turned, now, 10)).toEqual(openings(window, now, 10));
      }),
      { numRuns: 300 },
    );
  });
});
