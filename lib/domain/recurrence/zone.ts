import { DAY, HOUR, type Instant, MINUTE, type Millis, SECOND } from '../shared/time.ts';
import type { WallTime } from './civil.ts';

/**
 * The only place that knows time zones. The zone database is the runtime's (Intl), which is slow to ask (about a
 * microsecond each time), so offsets are asked once per zone and stretch of 64 days and kept for the life of the process: the
 * answers never change while it runs.
 */

/** A stretch of time in which the zone's offset from UTC does not change: from ≤ t < until. */
export interface Stretch {
  readonly from: Instant;
  readonly until: Instant;
  readonly offset: Millis;
}

interface Zone {
  readonly offsetAt: (t: Instant) => Millis;
  readonly chunks: Map<number, readonly Stretch[]>;
}

const CHUNK = 64 * DAY;
/** No two changes of offset lie closer together in any zone; between samples the change is searched by halving. */
const SAMPLE = DAY;
/** Farther from UTC than any zone ever was. */
const WIDEST_OFFSET = 16 * HOUR;

const zones = new Map<string, Zone>();
/** Names found good before: asking costs a tenth of a millisecond, and a fleet file asks thousands of times. */
const goodNames = new Set<string>();

/** Every name of the zone database has this form; offsets such as `+01:00` are not names: they know no clock changes. */
const NAME = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z0-9][A-Za-z0-9_+-]*)*$/;

/** The runtime also takes abbreviations that the zone database does not have (IST, CST, ACT: whose?); only these are in it. */
const ABBREVIATION = /^(?!(?:CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$)(?:[A-Z]{3}$|SystemV\/)/;

/** Null when it is a name of the zone database, else the reason why not (SPEC §4: unknown time zones are refused). */
export function timeZoneProblem(name: string): string | null {
  if (goodNames.has(name)) return null;
  const known = resolveName(name);
  const example = 'use a name of the time zone database such as Europe/Berlin or UTC';
  if (known === null || /^[+-]/.test(name) || ABBREVIATION.test(name))
    return `${JSON.stringify(name.slice(0, 64))} is not a known time zone; ${example}`;
  const otherCase = known !== name && known.toLowerCase() === name.toLowerCase();
  if (otherCase || !NAME.test(name)) return `${JSON.stringify(name)} is not spelled as in the time zone database; did you mean ${known}?`;
  goodNames.add(name);
  return null;
}

export function isTimeZone(name: string): boolean {
  return timeZoneProblem(name) === null;
}

function resolveName(name: string): string | null {
  if (name.length === 0 || name.length > 64) return null;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** The stretch that holds `t`. Stretches may also end where nothing changes: go on at `until`. */
export function stretchAt(name: string, t: Instant): Stretch {
  const zone = zones.get(name) ?? openZone(name);
  const index = Math.floor(t / CHUNK);
  let chunk = zone.chunks.get(index);
  if (chunk === undefined) {
    chunk = readChunk(zone, index * CHUNK);
    zone.chunks.set(index, chunk);
  }
  for (const stretch of chunk) if (t < stretch.until) return stretch;
  throw new Error(`no offset of ${name} at ${t}`);
}

export function wallAt(name: string, t: Instant): WallTime {
  return t + stretchAt(name, t).offset;
}

/** The first instant at which the zone's clock shows `wall` or, where it jumps over it, something later. */
export function firstInstantFrom(name: string, wall: WallTime): Instant {
  let from = wall - WIDEST_OFFSET;
  for (;;) {
    const { until, offset } = stretchAt(name, from);
    const t = Math.max(wall - offset, from);
    if (t < until) return t;
    from = until;
  }
}

/** The first instant at which the zone's clock shows exactly `wall`; null when it never does (the spring gap). */
export function firstInstantAt(name: string, wall: WallTime): Instant | null {
  const t = firstInstantFrom(name, wall);
  return wallAt(name, t) === wall ? t : null;
}

function openZone(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  const zone: Zone = { offsetAt: (t) => parseOffset(format.format(t)), chunks: new Map() };
  zones.set(name, zone);
  return zone;
}

/** Reads the end of `3/29/2026, GMT+02:00`; plain `GMT` is UTC itself. */
function parseOffset(text: string): Millis {
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null) throw new Error(`unexpected zone offset: ${text}`);
  const size = Number(match[2] ?? 0) * HOUR + Number(match[3] ?? 0) * MINUTE + Number(match[4] ?? 0) * SECOND;
  return match[1] === '-' ? -size : size;
}

function readChunk(zone: Zone, start: Instant): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let from = start;
  let offset = zone.offsetAt(start);
  for (let t = start; t < start + CHUNK; t += SAMPLE) {
    const next = zone.offsetAt(t + SAMPLE);
    if (next === offset) continue;
    const until = changeBetween(zone, t, t + SAMPLE);
    stretches.push({ from, until, offset });
    from = until;
    offset = next;
  }
  if (from < start + CHUNK) stretches.push({ from, until: start + CHUNK, offset });
  return stretches;
}

/** The first instant after `low` that has another offset than `low`; `high` has another one. */
function changeBetween(zone: Zone, low: Instant, high: Instant): Instant {
  const before = zone.offsetAt(low);
  let [same, other] = [low, high];
  while (other - same > 1) {
    const middle = same + Math.floor((other - same) / 2);
    if (zone.offsetAt(middle) === before) same = middle;
    else other = middle;
  }
  return other;
}
