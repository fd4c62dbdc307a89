import type { Instant } from '../shared/time.ts';
import { type Calendar, earliest, isOpen, nextOpening } from './openings.ts';
import { type Span, spanState } from './spans.ts';

/**
 * The first instant from `t` on at which something may start: its window is open or one of its Maintenances is under way (SPEC §1), and no freeze
 * holds (SPEC §4). null = never: frozen until further notice.
 */
export function firstStart(calendar: Calendar, maintenances: readonly Span[], t: Instant): Instant | null {
  const opening = isOpen(calendar, t) ? t : nextOpening(calendar, t);
  return earliest(opening, ...maintenances.map((span) => firstWithin(calendar, span, t)));
}

function firstWithin(calendar: Calendar, { from, until }: Span, t: Instant): Instant | null {
  const start = Math.max(from, t);
  const freeze = spanState(calendar.freezes, start);
  const free = freeze.inside ? freeze.until : start;
  return free !== null && free < until ? free : null;
}
