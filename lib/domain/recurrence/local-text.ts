import { DAY, HOUR, type Instant, MINUTE } from '../shared/time.ts';
import { civilDate, dayOf, weekday } from './civil.ts';
import { stretchAt } from './zone.ts';

/** Local time for people, with the offset, since in the fall-back hour the clock alone would be ambiguous. */
export function localText(instant: Instant, zone: string): string {
  const { offset } = stretchAt(zone, instant);
  return `${localDate(instant, zone)} ${localClock(instant, zone)} ${offsetText(offset)} ${zone}`;
}

/** `22:00` */
export function localClock(instant: Instant, zone: string): string {
  const wall = instant + stretchAt(zone, instant).offset;
  const minute = Math.floor((wall - dayOf(wall) * DAY) / MINUTE);
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** `2026-11-29` */
export function localDate(instant: Instant, zone: string): string {
  const { year, month, day } = civilDate(localDay(instant, zone));
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

/** `Sun` */
export function localWeekday(instant: Instant, zone: string): string {
  return ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][weekday(localDay(instant, zone))] ?? '';
}

function localDay(instant: Instant, zone: string): number {
  return dayOf(instant + stretchAt(zone, instant).offset);
}

function offsetText(offset: number): string {
  const size = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(size / HOUR))}:${two(Math.floor((size % HOUR) / MINUTE))}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
