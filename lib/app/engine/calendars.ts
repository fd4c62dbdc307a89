import type { CalendarFacts } from '../../domain/plan/facts.ts';

/** The calendar of a target without window and freeze: always open. Calendars are named by where their windows come from (DESIGN A6). */
export const ALWAYS_OPEN = 'always';

export function alwaysOpen(ready: number): CalendarFacts {
  return { key: ALWAYS_OPEN, ready, window: { open: true, opens_at: null, closes_at: null }, frozen_until: null, changes_at: null };
}
