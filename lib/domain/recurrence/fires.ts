import { DAY, HOUR, type Instant, MINUTE } from '../shared/time.ts';
import { civilDate, type DayNumber, dayNumber, dayOf, daysInMonth, type WallTime, weekday } from './civil.ts';
import { type Cron, matchesDate } from './cron.ts';
import { firstInstantAt, wallAt } from './zone.ts';

/**
 * SPEC §4: a cron fires at each wall-clock time that it names, once: at its first occurrence in the fall-back hour, not at all
 * in the spring gap. The preview, the trigger and the catch-up all ask here.
 */

/** The longest wait between two fires: 29 February on one weekday across 2100 takes 40 years. */
const HORIZON_YEARS = 50;

/** Does the cron fire at this instant? Only whole minutes can be fires. */
export function firesAt(cron: Cron, zone: string, minute: Instant): boolean {
  if (minute % MINUTE !== 0) return false;
  const wall = wallAt(zone, minute);
  return matchesWall(cron, wall) && firstInstantAt(zone, wall) === minute;
}

/** The first fire strictly after the instant. */
export function nextFire(cron: Cron, zone: string, after: Instant): Instant | null {
  return nextFires(cron, zone, after, 1)[0] ?? null;
}

export function nextFires(cron: Cron, zone: string, after: Instant, count: number): readonly Instant[] {
  const fires: Instant[] = [];
  if (count <= 0) return fires;
  for (const fire of firesAfter(cron, zone, after)) {
    fires.push(fire);
    if (fires.length === count) break;
  }
  return fires;
}

/** The latest fire with after < fire ≤ upTo: the one that is caught up when several were missed (SPEC §4). */
export function latestFire(cron: Cron, zone: string, after: Instant, upTo: Instant): Instant | null {
  for (let reach = HOUR; ; reach *= 2) {
    const from = Math.max(after, upTo - reach);
    let latest: Instant | null = null;
    for (const fire of firesAfter(cron, zone, from)) {
      if (fire > upTo) break;
      latest = fire;
    }
    if (latest !== null || from <= after) return latest;
  }
}

function* firesAfter(cron: Cron, zone: string, after: Instant): Generator<Instant> {
  for (const wall of matchingWalls(cron, wallAt(zone, after))) {
    const fire = firstInstantAt(zone, wall);
    if (fire !== null && fire > after) yield fire;
  }
}

function matchesWall(cron: Cron, wall: WallTime): boolean {
  const day = dayOf(wall);
  const minute = Math.floor((wall - day * DAY) / MINUTE);
  const date = civilDate(day);
  return (
    cron.minutes.includes(minute % 60) &&
    cron.hours.includes(Math.floor(minute / 60)) &&
    cron.months.includes(date.month) &&
    matchesDate(cron, date.day, weekday(day))
  );
}

/** The wall-clock times that the cron names, from the given one on, in order. */
function* matchingWalls(cron: Cron, from: WallTime): Generator<WallTime> {
  for (const day of matchingDays(cron, dayOf(from))) {
    for (const hour of cron.hours) {
      const start = day * DAY + hour * HOUR;
      if (start + HOUR <= from) continue;
      for (const minute of cron.minutes) {
        const wall = start + minute * MINUTE;
        if (wall >= from) yield wall;
      }
    }
  }
}

function* matchingDays(cron: Cron, from: DayNumber): Generator<DayNumber> {
  const { year } = civilDate(from);
  for (let y = year; y <= year + HORIZON_YEARS; y++) {
    for (const month of cron.months) {
      const first = dayNumber(y, month, 1);
      const last = first + daysInMonth(y, month) - 1;
      for (let day = Math.max(first, from); day <= last; day++) {
        if (matchesDate(cron, day - first + 1, weekday(day))) yield day;
      }
    }
  }
}
