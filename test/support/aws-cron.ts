/**
 * An evaluator of six-field AWS cron expressions, written from the AWS documentation and independent of lib/domain:
 * cron(minutes hours day-of-month month day-of-week year), `?` in exactly one of the day fields, weekdays 1–7 = SUN–SAT.
 */
export interface AwsMoment {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');

export function awsCron(text: string): (moment: AwsMoment) => boolean {
  const match = /^cron\((.+)\)$/.exec(text);
  const fields = match?.[1]?.split(' ') ?? [];
  if (fields.length !== 6 || text.length > 256) throw new Error(`not an AWS cron expression: ${text}`);
  const [minutes = '', hours = '', dom = '', months = '', dow = '', years = ''] = fields;
  if ((dom === '?') === (dow === '?')) throw new Error(`exactly one day field must be ?: ${text}`);
  const minute = field(minutes, 0, 59, []);
  const hour = field(hours, 0, 23, []);
  const month = field(months, 1, 12, MONTHS);
  const day = dom === '?' ? null : field(dom, 1, 31, []);
  const week = dow === '?' ? null : field(dow, 1, 7, DAYS);
  const year = field(years, 1970, 2199, []);
  return (m) =>
    minute.has(m.minute) &&
    hour.has(m.hour) &&
    month.has(m.month) &&
    year.has(m.year) &&
    (day === null || day.has(m.day)) &&
    (week === null || week.has(new Date(Date.UTC(m.year, m.month - 1, m.day)).getUTCDay() + 1));
}

function field(text: string, min: number, max: number, names: readonly string[]): Set<number> {
  const value = (word: string): number => {
    const number = names.includes(word) ? names.indexOf(word) + min : /^\d+$/.test(word) ? Number(word) : Number.NaN;
    if (!(number >= min && number <= max)) throw new Error(`out of range: ${word} in ${text}`);
    return number;
  };
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [base = '', step = '1'] = part.split('/');
    const [first = '', last] = base.split('-');
    const from = base === '*' ? min : value(first);
    const to = base === '*' || (last === undefined && part.includes('/')) ? max : value(last ?? first);
    if (from > to) throw new Error(`backwards: ${part}`);
    for (let n = from; n <= to; n += Number(step)) found.add(n);
  }
  return found;
}
