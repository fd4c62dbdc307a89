import fc from 'fast-check';
import type { MaintenanceWindow } from '../../lib/domain/windows/window.ts';
import type { Shown } from './clock-walk.ts';

/** A random cron expression together with what it means, worked out while it is written and not by reading it. */
export interface KnownCron {
  readonly text: string;
  readonly names: (shown: Omit<Shown, 'instant' | 'repeated'>) => boolean;
}

interface KnownField {
  readonly text: string;
  readonly values: ReadonlySet<number>;
}

const MONTHS = ['jan', 'FEB', 'Mar', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT'];

function part(min: number, max: number, names: readonly string[]): fc.Arbitrary<KnownField> {
  const word = (value: number, named: boolean) => (named ? (names[value - min] ?? String(value)) : String(value));
  const upTo = (from: number, to: number, step: number) =>
    new Set(Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((v) => (v - from) % step === 0));
  const value = fc.tuple(fc.integer({ min, max }), fc.boolean()).map(([v, named]) => ({ text: word(v, named), values: new Set([v]) }));
  const range = fc
    .tuple(
      fc.integer({ min, max }),
      fc.integer({ min, max }),
      fc.integer({ min: 1, max: Math.max(1, max - min) }),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([a, b, step, stepped, named]) => {
      const [from, to] = a <= b ? [a, b] : [b, a];
      const text = `${word(from, named)}-${word(to, named)}${stepped ? `/${step}` : ''}`;
      return { text, values: upTo(from, to, stepped ? step : 1) };
    });
  const step = fc.integer({ min: 1, max: Math.max(1, max - min) }).map((n) => ({ text: `*/${n}`, values: upTo(min, max, n) }));
  return fc.oneof({ weight: 4, arbitrary: value }, { weight: 3, arbitrary: range }, { weight: 1, arbitrary: step });
}

function field(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<KnownField> {
  const star = { text: '*', values: new Set(Array.from({ length: max - min + 1 }, (_, i) => min + i)) };
  const list = fc.array(part(min, max, names), { minLength: 1, maxLength: 3 }).map((parts) => ({
    text: parts.map((p) => p.text).join(','),
    values: new Set(parts.flatMap((p) => [...p.values])),
  }));
  return fc.oneof({ weight: 2, arbitrary: fc.constant(star) }, { weight: 3, arbitrary: list });
}

export const knownCron: fc.Arbitrary<KnownCron> = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12, MONTHS), field(0, 6, DAYS))
  .map((fields) => {
    const [minute, hour, day, month, week] = fields;
    const both = !day.text.startsWith('*') && !week.text.startsWith('*');
    return {
      text: fields.map((f) => f.text).join(' '),
      names: (s) =>
        minute.values.has(s.minute) &&
        hour.values.has(s.hour) &&
        month.values.has(s.month) &&
        (both ? day.values.has(s.day) || week.values.has(s.weekday) : day.values.has(s.day) && week.values.has(s.weekday)),
    };
  });

const two = (n: number) => String(n).padStart(2, '0');
const clock = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 })),
  // The hours in which clocks change.
  fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0, 1, 30, 59)),
);
const slot = fc
  .tuple(
    fc.option(fc.uniqueArray(fc.constantFrom('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'), { minLength: 1 })),
    clock,
    clock,
    fc.boolean(),
  )
  .map(([days, [sh, sm], [eh, em], midnight]) => ({
    ...(days === null ? {} : { days }),
    start: `${two(sh)}:${two(sm)}`,
    end: midnight ? '24:00' : `${two(eh)}:${two(em)}`,
  }))
  .filter((s) => s.start !== s.end);

const date = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);

/** Raw window JSON around a day number, with freezes as dates and as instants. */
export function windowJson(zone: string, nearDay: number): fc.Arbitrary<Pick<MaintenanceWindow, 'time_zone'> & Record<string, unknown>> {
  const freezeDays = fc
    .tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: 0, max: 3 }))
    .map(([from, length]) => ({ from: date(nearDay + from), to: date(nearDay + from + length), reason: 'days' }));
  const freezeInstants = fc.tuple(fc.integer({ min: -300, max: 300 }), fc.integer({ min: 1, max: 4_000 })).map(([hours, minutes]) => {
    const from = nearDay * 86_400_000 + hours * 3_600_000;
    return { from: new Date(from).toISOString(), to: new Date(from + minutes * 60_000).toISOString(), reason: null };
  });
  return fc
    .tuple(fc.array(slot, { minLength: 1, maxLength: 4 }), fc.array(fc.oneof(freezeDays, freezeInstants), { maxLength: 3 }))
    .map(([time_slots, freezes]) => ({ time_zone: zone, time_slots, freezes }));
}
