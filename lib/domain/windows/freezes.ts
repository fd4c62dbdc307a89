import { dayNumber, isRealDate } from '../recurrence/civil.ts';
import { firstInstantFrom } from '../recurrence/zone.ts';
import { DAY, HOUR, type Instant, LAST_INSTANT, MINUTE, SECOND } from '../shared/time.ts';
import { joinSpans, type Span, spanState } from './spans.ts';
import type { Freeze, MaintenanceWindow } from './window.ts';

/**
 * SPEC §4: dates are whole days in the window's zone, `to` included; instants exclude `to`. A `to` of 9999-12-31 is how people write "until
 * further notice": in zones west of UTC that day ends after the last instant there is, and the freeze with that instant.
 */
export function freezeSpan(freeze: Freeze, zone: string): Span | null {
  const from = parseEdge(freeze.from);
  const to = parseEdge(freeze.to);
  if (from === null || to === null) return null;
  return {
    from: from.kind === 'date' ? firstInstantFrom(zone, from.day * DAY) : from.instant,
    until: Math.min(LAST_INSTANT, to.kind === 'date' ? firstInstantFrom(zone, (to.day + 1) * DAY) : to.instant),
  };
}

export function freezeSpans(freezes: readonly Freeze[], zone: string): readonly Span[] {
  return joinSpans(freezes.flatMap((freeze) => freezeSpan(freeze, zone) ?? []));
}

/** The end of the freeze that holds now, of all that follow one another without a break; null when none does. */
export function frozenUntil(freezes: readonly Freeze[], zone: string, now: Instant): Instant | null {
  const { inside, until } = spanState(freezeSpans(freezes, zone), now);
  return inside ? until : null;
}

/** Why nothing starts now: of the first freeze that holds and says so. */
export function freezeReason(windows: readonly MaintenanceWindow[], now: Instant): string | null {
  for (const { freezes, time_zone } of windows)
    for (const freeze of freezes) {
      const span = freeze.reason === null ? null : freezeSpan(freeze, time_zone);
      if (span !== null && span.from <= now && now < span.until) return freeze.reason;
    }
  return null;
}

export type Edge = { readonly kind: 'date'; readonly day: number } | { readonly kind: 'instant'; readonly instant: Instant };

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3})\d*)?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** A date or an instant with its offset; a local time without offset is neither, since it may come twice or never. */
export function parseEdge(text: string): Edge | null {
  const date = parseDate(text);
  if (date !== null) return { kind: 'date', day: date };
  const match = INSTANT.exec(text);
  const day = parseDate(match?.[1] ?? '');
  if (match === null || day === null) return null;
  const number = (index: number) => Number(match[index] ?? 0);
  const time = number(2) * HOUR + number(3) * MINUTE + number(4) * SECOND + Number((match[5] ?? '').padEnd(3, '0'));
  const offset = number(7) * HOUR + number(8) * MINUTE;
  return { kind: 'instant', instant: day * DAY + time - (match[6] === '-' ? -offset : offset) };
}

function parseDate(text: string): number | null {
  const match = DATE.exec(text);
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return year >= 1970 && isRealDate(year, month, day) ? dayNumber(year, month, day) : null;
}
