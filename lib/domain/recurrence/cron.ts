import { daysInMonth } from './civil.ts';

/**
 * SPEC §4, the cron dialect: the five Unix fields, names allowed, `7` = Sunday. What another tool would read differently is
 * refused, never guessed.
 */

export const CRON_FIELDS = ['minute', 'hour', 'day_of_month', 'month', 'day_of_week'] as const;
export type CronField = (typeof CRON_FIELDS)[number];

/** A cron expression that was understood; every list is sorted and free of doubles. */
export interface Cron {
  readonly text: string;
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days_of_month: readonly number[];
  readonly months: readonly number[];
  /** 0 = Sunday … 6 = Saturday. */
  readonly weekdays: readonly number[];
  /**
   * Both day fields are given, so a date needs to match only one of them. As in Vixie cron a field that begins with `*`
   * counts as not given, also with a step; then a date must match both.
   */
  readonly either_day: boolean;
}

export type ParsedCron =
  | { readonly ok: true; readonly cron: Cron }
  | { readonly ok: false; readonly field: CronField | 'expression'; readonly reason: string };

interface FieldRule {
  readonly min: number;
  readonly max: number;
  /** What `*` reaches; differs from `max` only for weekdays, where 7 is another word for 0. */
  readonly starMax: number;
  /** The name of `min`, of `min + 1`, … */
  readonly names: readonly string[];
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
export const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;

const RULES: Readonly<Record<CronField, FieldRule>> = {
  minute: { min: 0, max: 59, starMax: 59, names: [] },
  hour: { min: 0, max: 23, starMax: 23, names: [] },
  day_of_month: { min: 1, max: 31, starMax: 31, names: [] },
  month: { min: 1, max: 12, starMax: 12, names: MONTHS },
  day_of_week: { min: 0, max: 7, starMax: 6, names: WEEKDAYS },
};

const MAX_LENGTH = 500;

class Refused extends Error {}

export function parseCron(text: string): ParsedCron {
  const fields = text.trim().split(/[ \t]+/);
  const problem = shapeProblem(text, fields);
  if (problem !== null) return { ok: false, field: 'expression', reason: problem };
  const values = new Map<CronField, readonly number[]>();
  for (const [index, name] of CRON_FIELDS.entries()) {
    try {
      values.set(name, parseField(fields[index] ?? '', RULES[name]));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { ok: false, field: name, reason: error.message };
    }
  }
  const of = (name: CronField) => values.get(name) ?? [];
  const cron: Cron = {
    text: fields.join(' '),
    minutes: of('minute'),
    hours: of('hour'),
    days_of_month: of('day_of_month'),
    months: of('month'),
    weekdays: of('day_of_week'),
    either_day: !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*'),
  };
  if (!dateComes(cron)) return { ok: false, field: 'day_of_month', reason: neverReason(fields) };
  return { ok: true, cron };
}

function shapeProblem(text: string, fields: readonly string[]): string | null {
  const five = 'write five fields: minute hour day-of-month month day-of-week, e.g. "0 22 * * FRI"';
  if (text.trim() === '') return `the cron expression is empty; ${five}`;
  if (text.length > MAX_LENGTH) return `the cron expression is longer than ${MAX_LENGTH} characters`;
  if (text.trim().startsWith('@')) return `${fields[0]} is a shorthand that not every cron knows; ${five}`;
  if (fields.length === 5) return null;
  const hint = fields.length > 5 ? ' (seconds and years are not supported)' : '';
  return `${fields.length} field${fields.length === 1 ? '' : 's'} found${hint}; ${five}`;
}

function parseField(text: string, rule: FieldRule): readonly number[] {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    for (const value of parsePart(part, rule)) found.add(rule.max === 7 ? value % 7 : value);
  }
  return [...found].sort((a, b) => a - b);
}

/** One member of a list: `*`, a value or a range, with a step behind `*` or a range. */
function parsePart(part: string, rule: FieldRule): readonly number[] {
  const [base = '', step, ...more] = part.split('/');
  if (part === '' || base === '') throw new Refused('a value is missing; look for a stray comma or slash');
  if (more.length > 0) throw new Refused(`${quote(part)} has more than one step`);
  const [from, to] = base === '*' ? [rule.min, rule.starMax] : parseRange(base, rule);
  if (step !== undefined && base !== '*' && !base.includes('-')) {
    throw new Refused(`${quote(part)} has a step without a range; write ${base}-${rule.starMax}/${step}`);
  }
  const width = step === undefined ? 1 : parseStep(step, rule);
  const values: number[] = [];
  for (let value = from; value <= to; value += width) values.push(value);
  return values;
}

function parseRange(base: string, rule: FieldRule): readonly [number, number] {
  const ends = base.split('-');
  const [first = '', last] = ends;
  if (ends.length > 2 || first === '' || last === '') throw new Refused(`${quote(base)} is not a value or a range`);
  const from = parseValue(first, rule);
  if (last === undefined) return [from, from];
  const sundayAtTheEnd = rule.max === 7 && last.toUpperCase() === 'SUN' && from > 0;
  const to = sundayAtTheEnd ? 7 : parseValue(last, rule);
  if (from > to) {
    throw new Refused(`the range ${quote(base)} runs backwards; write two parts, ${first}-${rule.starMax},${rule.min}-${last}`);
  }
  return [from, to];
}

function parseValue(text: string, rule: FieldRule): number {
  const named = rule.names.indexOf(text.toUpperCase());
  if (named >= 0) return rule.min + named;
  if (!/^\d{1,2}$/.test(text)) throw new Refused(unknownReason(text, rule));
  const value = Number(text);
  if (value < rule.min || value > rule.max) throw new Refused(`${text} is out of range, allowed are ${rule.min} to ${rule.max}`);
  return value;
}

function parseStep(text: string, rule: FieldRule): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) < 1 || Number(text) > rule.starMax) {
    throw new Refused(`the step ${quote(text)} must be a number from 1 to ${rule.starMax}`);
  }
  return Number(text);
}

function unknownReason(text: string, rule: FieldRule): string {
  const special = /[LW#?]/i.exec(rule.names.length > 0 ? text.replace(/[A-Z]{3}/gi, '') : text);
  if (special !== null) return `${quote(text)}: ${special[0]} is not part of Unix cron; only numbers, names, "*", ",", "-" and "/"`;
  const names = rule.names.length > 0 ? ` or a name from ${rule.names[0]} to ${rule.names.at(-1)}` : '';
  return `${quote(text)} is not a number from ${rule.min} to ${rule.max}${names}`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

/** A weekday alone always comes, and each date that exists falls on each weekday in some year. 2000 has a 29 February. */
function dateComes(cron: Cron): boolean {
  const first = cron.days_of_month[0] ?? 32;
  return cron.either_day || cron.months.some((month) => first <= daysInMonth(2000, month));
}

function neverReason(fields: readonly string[]): string {
  return `no month of ${quote(fields[3] ?? '')} has a day ${quote(fields[2] ?? '')}: this date never comes`;
}

/** SPEC §4: both day fields given = either matches. */
export function matchesDate(cron: Cron, dayOfMonth: number, dayOfWeek: number): boolean {
  const month = cron.days_of_month.includes(dayOfMonth);
  const week = cron.weekdays.includes(dayOfWeek);
  return cron.either_day ? month || week : month && week;
}
