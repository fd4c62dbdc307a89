import type { Item } from '../shared/rollout.ts';

type LaneFacts = Pick<Item, 'calendar' | 'forced' | 'source' | 'window_bypassed' | 'in_maintenance' | 'override_freeze'>;

/** Lanes of items for which the calendar's windows do not count, or neither windows nor freezes. */
export const NO_WINDOW = 'x|';
export const NO_FREEZE = 'y|';

/**
 * The lane of its wave in which a waiting item stands (DESIGN A6): its calendar, and whether windows (SPEC §3.9, §3.10, an active Maintenance) or
 * freezes (`override_freeze`) count for it. So the plan reads a lane whole or not at all.
 */
export function laneCalendar(item: LaneFacts): string {
  const bypassed = item.forced || item.source === 'manual' || item.window_bypassed || item.in_maintenance;
  if (!bypassed) return item.calendar;
  return `${item.override_freeze ? NO_FREEZE : NO_WINDOW}${item.calendar}`;
}
