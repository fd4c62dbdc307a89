import { describe, expect, it } from 'vitest';
import { type Cron, parseCron } from '../../../lib/domain/recurrence/cron.ts';
import { isTimeZone, timeZoneProblem } from '../../../lib/domain/recurrence/zone.ts';
import { fastest } from '../../support/fastest.ts';

function cron(text: string): Cron {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(`${parsed.field}: ${parsed.reason}`);
  return parsed.cron;
}

describe('cron dialect', () => {
  it('reads values, lists, ranges, steps and names in any case', () => {
    expect(cron('0,30 8-10 1-31/10 jan,Mar MON-fri')).toMatchObject({
      minutes: [0, 30],
      hours: [8, 9, 10],
      days_of_month: [1, 11, 21, 31],
      months: [1, 3],
      weekdays: [1, 2, 3, 4, 5],
      either_day: true,
    });
  });

  it('reads 7 as Sunday, also at the end of a range and as a name there', () => {
    expect(cron('0 0 * * 7').weekdays).toEqual([0]);
    expect(cron('0 0 * * 5-7').weekdays).toEqual([0, 5, 6]);
    expect(cron('0 0 * * SAT-SUN').weekdays).toEqual([0, 6]);
    expect(cron('0 0 * * SUN-TUE').weekdays).toEqual([0, 1, 2]);
    expect(cron('0 0 * * 0,7').weekdays).toEqual([0]);
    expect(cron('0 0 * * 0-7').weekdays).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(cron('0 0 * * */2').weekdays).toEqual([0, 2, 4, 6]);
  });

  it('sorts and removes doubles', () => {
    expect(cron('30,0,15-16,16,30 5 * * *').minutes).toEqual([0, 15, 16, 30]);
  });

  it('takes blanks and tabs around fields', () => {
    expect(cron('  0\t22  * * FRI ').text).toBe('0 22 * * FRI');
  });

  it('counts a day field that begins with * as not given, as Vixie cron does', () => {
    expect(cron('0 0 13 * 5').either_day).toBe(true);
    expect(cron('0 0 */2 * 5').either_day).toBe(false);
    expect(cron('0 0 13 * *').either_day).toBe(false);
  });

  it.each([
    ['', 'expression', /empty/],
    ['   ', 'expression', /empty/],
    ['* * * *', 'expression', /4 fields/],
    ['0 2 * * ? *', 'expression', /6 fields.*seconds and years/],
    ['0 0 2 * * 1 2026', 'expression', /7 fields/],
    ['@daily', 'expression', /shorthand/],
    ['60 * * * *', 'minute', /60 is out of range/],
    ['* 24 * * *', 'hour', /out of range/],
    ['* * 0 * *', 'day_of_month', /out of range, allowed are 1 to 31/],
    ['* * 32 * *', 'day_of_month', /out of range/],
    ['* * * 13 *', 'month', /out of range/],
    ['* * * 0 *', 'month', /out of range/],
    ['* * * * 8', 'day_of_week', /out of range/],
    ['0 0 L * *', 'day_of_month', /L is not part of Unix cron/],
    ['0 0 15W * *', 'day_of_month', /W is not part/],
    ['0 0 * * 5#2', 'day_of_week', /# is not part/],
    ['0 0 * * FRI#2', 'day_of_week', /# is not part/],
    ['0 0 * * FRIL', 'day_of_week', /L is not part/],
    ['0 0 ? * 1', 'day_of_month', /\? is not part/],
    ['0 0 * * MONDAY', 'day_of_week', /not a number from 0 to 7 or a name from SUN to SAT/],
    ['MON * * * *', 'minute', /not a number/],
    ['-1 * * * *', 'minute', /not a value or a range/],
    ['1-2-3 * * * *', 'minute', /not a value or a range/],
    ['1.5 * * * *', 'minute', /not a number/],
    ['0x1 * * * *', 'minute', /not a number/],
    ['١ * * * *', 'minute', /not a number/],
    ['1, * * * *', 'minute', /missing/],
    ['/5 * * * *', 'minute', /missing/],
    ['*/0 * * * *', 'minute', /step/],
    ['*/60 * * * *', 'minute', /step.*1 to 59/],
    ['*/ * * * *', 'minute', /step/],
    ['*/5/5 * * * *', 'minute', /more than one step/],
    ['5/10 * * * *', 'minute', /write 5-59\/10/],
    ['* 22-4 * * *', 'hour', /backwards.*22-23,0-4/],
    ['* * * * FRI-MON', 'day_of_week', /backwards/],
    ['* * *\n* *', 'expression', /4 fields/],
  ] as const)('refuses %j and names the field and the reason', (text, field, reason) => {
    const parsed = parseCron(text);
    expect(parsed).toMatchObject({ ok: false, field });
    expect(parsed.ok ? '' : parsed.reason).toMatch(reason);
  });

  it('boundary 4: six fields are refused and never read as seconds', () => {
    expect(parseCron('0 2 * * ? *').ok).toBe(false);
    expect(parseCron('0 0 2 * * *').ok).toBe(false);
  });

  it.each(['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 31 2 */2', '0 0 30-31 FEB *'])(
    'boundary 6: %s never comes and is refused at once',
    (text) => {
      const start = performance.now();
      const parsed = parseCron(text);
      expect(performance.now() - start).toBeLessThan(50);
      expect(parsed).toMatchObject({ ok: false, field: 'day_of_month', reason: expect.stringContaining('never comes') });
    },
  );

  it('takes a date that never comes when the weekday alone decides', () => {
    expect(parseCron('0 0 30 2 MON').ok).toBe(true);
    expect(parseCron('0 0 31 4,5 *').ok).toBe(true);
    expect(parseCron('0 0 29 2 *').ok).toBe(true);
  });

  it('answers a hostile text at once', () => {
    for (const text of [`${'1,'.repeat(100_000)}1 * * * *`, `${' '.repeat(100_000)}x`]) {
      expect(parseCron(text).ok).toBe(false);
      expect(fastest(() => parseCron(text))).toBeLessThan(50);
    }
  });

  it('boundary 7: empty text, four fields, minute 60 and an unknown zone are refused', () => {
    for (const text of ['', '* * * *', '60 * * * *']) expect(parseCron(text).ok).toBe(false);
    expect(isTimeZone('Europe/Berln')).toBe(false);
  });
});

describe('time zone names', () => {
  it.each([
    'UTC',
    'GMT',
    'CET',
    'Europe/Berlin',
    'Asia/Kolkata',
    'Asia/Calcutta',
    'Europe/Kyiv',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+5',
    'US/Eastern',
  ])('takes %s', (name) => {
    expect(timeZoneProblem(name)).toBeNull();
  });

  it.each([
    '',
    ' ',
    'Europe/Berln',
    'utc',
    'europe/berlin',
    'europe/kyiv',
    '+01:00',
    '-05',
    'Z',
    'IST',
    'PST',
    'Local',
    'Europe/Berlin ',
    'x'.repeat(1000),
  ])('refuses %j', (name) => {
    expect(isTimeZone(name)).toBe(false);
  });

  it('proposes the right spelling', () => {
    expect(timeZoneProblem('europe/berlin')).toMatch(/did you mean Europe\/Berlin\?/);
  });
});
