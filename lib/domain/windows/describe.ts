import { localClock, localDate, localWeekday } from '../recurrence/local-text.ts';
import { DAY, HOUR, type Instant, MINUTE, type Millis, YEAR } from '../shared/time.ts';

/**
 * `in 3 h 12 min (22:00 Europe/Berlin)`; another day than today is named: `in 2 d 3 h (Wed 2026-12-02 22:00 Europe/Berlin)`. Nobody counts in days
 * beyond a year: `on Wed 2030-12-02 22:00 Europe/Berlin`.
 */
export function describeUntil(now: Instant, until: Instant, zone: string): string {
  if (until <= now) return 'now';
  if (until - now > YEAR) return `on ${describeWhen(now, until, zone)}`;
  return `in ${describeLength(until - now)} (${describeWhen(now, until, zone)})`;
}

/** `22:00 Europe/Berlin`; another day than today is named: `Wed 2026-12-02 22:00 Europe/Berlin`. */
export function describeWhen(now: Instant, at: Instant, zone: string): string {
  const today = localDate(now, zone) === localDate(at, zone);
  const date = today ? '' : `${localWeekday(at, zone)} ${localDate(at, zone)} `;
  return `${date}${localClock(at, zone)} ${zone}`;
}

/** Rounded up, so that it never promises too early: `45 min`, `3 h 12 min`, `2 d 3 h`. */
export function describeLength(length: Millis): string {
  if (length < MINUTE) return 'less than a minute';
  const minutes = Math.ceil(length / MINUTE) * MINUTE;
  if (minutes < DAY) return parts(minutes, HOUR, 'h', MINUTE, 'min');
  return parts(Math.ceil(minutes / HOUR) * HOUR, DAY, 'd', HOUR, 'h');
}

function parts(length: Millis, big: Millis, bigUnit: string, small: Millis, smallUnit: string): string {
  const [whole, rest] = [Math.floor(length / big), Math.floor((length % big) / small)];
  const words = [whole > 0 ? `${whole} ${bigUnit}` : '', rest > 0 ? `${rest} ${smallUnit}` : ''];
  return words.filter((word) => word !== '').join(' ');
}
