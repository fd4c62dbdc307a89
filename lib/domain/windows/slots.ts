import type { WallTime } from '../recurrence/civil.ts';
import { stretchAt } from '../recurrence/zone.ts';
import { DAY, HOUR, type Instant, MINUTE, type Millis } from '../shared/time.ts';
import { joinSpans, type Span, spanState } from './spans.ts';
import { type MaintenanceWindow, SLOT_DAYS, type TimeSlot } from './window.ts';

const WEEK = 7 * DAY;
/** 1970-01-05, the first Monday. */
const FIRST_MONDAY: WallTime = 4 * DAY;

/** The slots of a window as pieces of a week that begins on Monday, in wall-clock milliseconds. */
export interface WeeklySlots {
  readonly zone: string;
  readonly pieces: readonly Span[];
  /** The slots cover the whole week, so it never closes. */
  readonly always: boolean;
}

export function weeklySlots(window: MaintenanceWindow): WeeklySlots {
  const pieces = joinSpans(window.time_slots.flatMap(slotPieces));
  const first = pieces[0];
  const always = pieces.length === 1 && first !== undefined && first.from === 0 && first.until === WEEK;
  return { zone: window.time_zone, pieces, always };
}

/** A slot that runs past Sunday midnight goes on at the beginning of the week. */
function slotPieces(slot: TimeSlot): readonly Span[] {
  const start = timeOfDay(slot.start);
  const end = timeOfDay(slot.end);
  const length = end > start ? end - start : end + DAY - start;
  return (slot.days ?? SLOT_DAYS).flatMap((day) => {
    const from = SLOT_DAYS.indexOf(day) * DAY + start;
    const until = from + length;
    return until <= WEEK
      ? [{ from, until }]
      : [
          { from, until: WEEK },
          { from: 0, until: until - WEEK },
        ];
  });
}

/** `HH:MM` as milliseconds since midnight. */
function timeOfDay(text: string): Millis {
  return Number(text.slice(0, 2)) * HOUR + Number(text.slice(3)) * MINUTE;
}

/**
 * SPEC §4: open ⇔ the wall clock lies in a slot. Hence a slot in the repeated hour may open twice and one wholly inside the
 * spring gap does not open. `until` is when that changes; null = never.
 */
export function slotState(slots: WeeklySlots, t: Instant): { readonly open: boolean; readonly until: Instant | null } {
  if (slots.always) return { open: true, until: null };
  if (slots.pieces.length === 0) return { open: false, until: null };
  let state = stateWithinStretch(slots, t);
  const open = state.inside;
  while (state.inside === open) {
    t = state.until;
    state = stateWithinStretch(slots, t);
  }
  return { open, until: t };
}

/** The state at `t` and an instant up to which it holds: the next edge of a slot, of the week or of the zone's stretch. */
function stateWithinStretch(slots: WeeklySlots, t: Instant): { readonly inside: boolean; readonly until: Instant } {
  const stretch = stretchAt(slots.zone, t);
  const sinceMonday = t + stretch.offset - FIRST_MONDAY;
  const weekStart = Math.floor(sinceMonday / WEEK) * WEEK;
  const { inside, until } = spanState(slots.pieces, sinceMonday - weekStart);
  const edge = weekStart + (until ?? WEEK) + FIRST_MONDAY - stretch.offset;
  return { inside, until: Math.min(edge, stretch.until) };
}
