import { Temporal } from 'temporal-polyfill';

/** The oracle of the time tests: walks minute by minute and asks another zone implementation what the clock shows. */
export interface Shown {
  readonly instant: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** 0 = Sunday. */
  readonly weekday: number;
  /** The same digits were shown before: the second pass of a fall-back hour. */
  readonly repeated: boolean;
}

export function at(text: string): number {
  return Temporal.Instant.from(text).epochMilliseconds;
}

export function iso(instant: number | null): string | null {
  return instant === null ? null : Temporal.Instant.fromEpochMilliseconds(instant).toString();
}

export function shown(instant: number, zone: string): Shown {
  const z = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
  const first = z.toPlainDateTime().toZonedDateTime(zone, { disambiguation: 'earlier' });
  return {
    instant,
    year: z.year,
    month: z.month,
    day: z.day,
    hour: z.hour,
    minute: z.minute,
    weekday: z.dayOfWeek % 7,
    repeated: first.epochMilliseconds !== z.epochMilliseconds,
  };
}

/** Every whole minute from ≤ t < until as the zone's clock shows it. */
export function* minutes(from: number, until: number, zone: string): Generator<Shown> {
  for (let t = Math.ceil(from / 60_000) * 60_000; t < until; t += 60_000) yield shown(t, zone);
}

/** The changes of the zone's offset after an instant. */
export function nextTransition(after: number, zone: string): number | null {
  const z = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(zone);
  return z.getTimeZoneTransition('next')?.epochMilliseconds ?? null;
}

export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Dublin',
  'America/New_York',
  'America/St_Johns',
  'America/Santiago',
  'America/Havana',
  'America/Sao_Paulo',
  'America/Scoresbysund',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Asia/Beirut',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Australia/Adelaide',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Antarctica/Troll',
] as const;
