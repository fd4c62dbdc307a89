import { type Cron, WEEKDAYS } from './cron.ts';

/**
 * DESIGN §5 Scheduler: the schedule is a courier. It may call more often than the cron fires (the trigger asks firesAt and
 * does nothing), but never less. It calls exactly at the named wall-clock times, except where one day field begins with `*`
 * and has a step while the other is restricted too (both must match, which AWS cannot say): then on all the named weekdays.
 */
export interface EventBridgeSchedule {
  /** One `cron(…)` expression per schedule: two where both day fields are given, since AWS wants `?` in one of them. */
  readonly expressions: readonly string[];
  readonly timezone: string;
}

export function toEventBridge(cron: Cron, zone: string): EventBridgeSchedule {
  return { expressions: dayFields(cron).map(([day, week]) => expression(cron, day, week)), timezone: zone };
}

/** The pairs (day of month, day of week), `?` in one of each. */
function dayFields(cron: Cron): readonly (readonly [string, string])[] {
  const everyDate = cron.days_of_month.length === 31;
  const everyWeekday = cron.weekdays.length === 7;
  const byDate = [ranges(cron.days_of_month, String), '?'] as const;
  const byWeekday = ['?', ranges(cron.weekdays, (day) => WEEKDAYS[day] ?? '')] as const;
  if (cron.either_day) return everyDate || everyWeekday ? [['*', '?']] : [byDate, byWeekday];
  if (everyWeekday) return everyDate ? [['*', '?']] : [byDate];
  return [byWeekday];
}

function expression(cron: Cron, day: string, week: string): string {
  const minutes = cron.minutes.length === 60 ? '*' : ranges(cron.minutes, String);
  const hours = cron.hours.length === 24 ? '*' : ranges(cron.hours, String);
  const months = cron.months.length === 12 ? '*' : ranges(cron.months, String);
  return `cron(${minutes} ${hours} ${day} ${months} ${week} *)`;
}

/** `0,15,30-33`: plain lists and ranges mean the same everywhere; AWS counts steps in its own way. */
function ranges(values: readonly number[], word: (value: number) => string): string {
  const parts: string[] = [];
  for (let start = 0; start < values.length; ) {
    let end = start;
    while (values[end + 1] === (values[end] ?? 0) + 1) end++;
    const [from, to] = [word(values[start] ?? 0), word(values[end] ?? 0)];
    parts.push(from === to ? from : `${from}-${to}`);
    start = end + 1;
  }
  return parts.join(',');
}
