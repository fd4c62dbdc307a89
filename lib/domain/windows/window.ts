/** SPEC §1, §4: when starts are allowed. This is the stored and the wire form; `parseWindow` is the only way in. */

export const SLOT_DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type SlotDay = (typeof SLOT_DAYS)[number];

export interface TimeSlot {
  /** The days on which it starts; the night belongs to the day it starts on. Left out = every day. */
  readonly days?: readonly SlotDay[];
  /** `HH:MM`, included. */
  readonly start: string;
  /** `HH:MM` or `24:00`, excluded; before `start` = on the next day. */
  readonly end: string;
}

export interface Freeze {
  /** `YYYY-MM-DD` in the window's zone, or an instant such as `2026-12-20T18:00:00Z`. */
  readonly from: string;
  /** A date is included as a whole, an instant excluded. */
  readonly to: string;
  readonly reason: string | null;
}

export interface MaintenanceWindow {
  readonly time_zone: string;
  readonly time_slots: readonly TimeSlot[];
  readonly freezes: readonly Freeze[];
}
