import { DAY, type Instant, LAST_INSTANT } from '../shared/time.ts';
import { freezeSpans } from './freezes.ts';
import { slotState, type WeeklySlots, weeklySlots } from './slots.ts';
import { joinSpans, type Span, spanState } from './spans.ts';
import type { MaintenanceWindow } from './window.ts';

/** What decides about starts: the slots (null = always open) and all freezes that apply, in instants and joined. */
export interface Calendar {
  readonly slots: WeeklySlots | null;
  readonly freezes: readonly Span[];
}

/** A time in which starts are allowed; `closes_at` null = it never closes by itself. */
export interface Opening {
  readonly opens_at: Instant;
  readonly closes_at: Instant | null;
}

/** Windows are immutable values: each is worked out once per object. */
const calendars = new WeakMap<MaintenanceWindow, Calendar>();

/** The calendar of one window by itself: its slots and its own freezes. */
export function calendarOf(window: MaintenanceWindow): Calendar {
  let calendar = calendars.get(window);
  if (calendar === undefined) {
    calendar = { slots: weeklySlots(window), freezes: freezeSpans(window.freezes, window.time_zone) };
    calendars.set(window, calendar);
  }
  return calendar;
}

/** SPEC §4: the first window that is set decides about the slots; the freezes of all windows add up. */
export function combineCalendars(slots: MaintenanceWindow | null, all: readonly MaintenanceWindow[]): Calendar {
  return {
    slots: slots === null ? null : calendarOf(slots).slots,
    freezes: joinSpans(all.flatMap((window) => calendarOf(window).freezes)),
  };
}

type Rules = Calendar | MaintenanceWindow;

/** SPEC §4: may something start now? Freezes win over slots. */
export function isOpen(rules: Rules, now: Instant): boolean {
  return state(toCalendar(rules), now).open;
}

/** The next time it opens, strictly after now; null = never again (it is open for good, or frozen until further notice). */
export function nextOpening(rules: Rules, now: Instant): Instant | null {
  return nextChangeTo(toCalendar(rules), true, now);
}

/** The next time it closes, strictly after now: nothing starts at or after that instant. null = never. */
export function nextClosing(rules: Rules, now: Instant): Instant | null {
  return nextChangeTo(toCalendar(rules), false, now);
}

/** The next openings with freezes taken out; when it is open already, the first one begins at `from`. */
export function openings(rules: Rules, from: Instant, count: number): readonly Opening[] {
  const calendar = toCalendar(rules);
  const found: Opening[] = [];
  let opens: Instant | null = isOpen(calendar, from) ? from : nextOpening(calendar, from);
  while (opens !== null && found.length < count) {
    const closes: Instant | null = nextClosing(calendar, opens);
    found.push({ opens_at: opens, closes_at: closes });
    opens = closes === null ? null : nextOpening(calendar, closes);
  }
  return found;
}

function toCalendar(rules: Rules): Calendar {
  return 'time_slots' in rules ? calendarOf(rules) : rules;
}

/** Open or not, and an instant up to which that surely holds; null = for ever. */
function state(calendar: Calendar, t: Instant): { readonly open: boolean; readonly until: Instant | null } {
  const freeze = spanState(calendar.freezes, t);
  if (freeze.inside) return { open: false, until: freeze.until };
  const slot = calendar.slots === null ? { open: true, until: null } : slotState(calendar.slots, t);
  return { open: slot.open, until: earliest(slot.until, freeze.until) };
}

/** From here on nothing changes any more. In every zone a freeze until 9999-12-31 ends later, so that nothing opens after it. */
const END_OF_CALENDAR: Instant = LAST_INSTANT + 1 - DAY;

function nextChangeTo(calendar: Calendar, open: boolean, now: Instant): Instant | null {
  let current = state(calendar, now);
  let before = current.open;
  while (current.until !== null && current.until < END_OF_CALENDAR) {
    const t = current.until;
    current = state(calendar, t);
    if (current.open === open && before !== open) return t;
    before = current.open;
  }
  return null;
}

export function earliest(...instants: readonly (Instant | null)[]): Instant | null {
  return instants.reduce((first, t) => (first === null || (t !== null && t < first) ? t : first), null);
}
