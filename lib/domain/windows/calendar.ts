import type { CalendarFacts } from '../plan/facts.ts';
import type { Instant } from '../shared/time.ts';
import { freezeReason } from './freezes.ts';
import { type Calendar, combineCalendars, earliest, isOpen, nextClosing, nextOpening } from './openings.ts';
import { slotState } from './slots.ts';
import { spanState } from './spans.ts';
import type { MaintenanceWindow } from './window.ts';

/** The windows that can apply to a target, each null when it has none. */
export interface WindowSources {
  readonly config: MaintenanceWindow | null;
  readonly workspace: MaintenanceWindow | null;
  readonly organization: MaintenanceWindow | null;
  readonly systemDefault: MaintenanceWindow | null;
}

export interface ResolvedWindow {
  /** null = always open but for freezes. */
  readonly window: MaintenanceWindow | null;
  readonly from: keyof WindowSources | null;
  readonly calendar: Calendar;
}

/** SPEC §4, which window: the rollout config's own, else workspace → organization → system default. */
const ORDER = ['config', 'workspace', 'organization', 'systemDefault'] as const;

export function resolveWindow(sources: WindowSources): ResolvedWindow {
  const from = ORDER.find((source) => sources[source] !== null) ?? null;
  const window = from === null ? null : sources[from];
  return {
    window,
    from,
    calendar: combineCalendars(window, allOf(sources)),
  };
}

const allOf = (sources: WindowSources): MaintenanceWindow[] => ORDER.flatMap((source) => sources[source] ?? []);

/**
 * What the plan of a wave wants to know of one calendar (DESIGN A6).
 * `open` speaks of the slots alone, so that a freeze is shown as a freeze; `opens_at` and `closes_at` of what really happens:
 * the next instant from which something may start (null while it may), and the one from which nothing may (null while it may not).
 */
export function calendarFacts(sources: WindowSources & { readonly key: string }, ready: number, now: Instant): CalendarFacts {
  const { calendar, window } = resolveWindow(sources);
  const slot = calendar.slots === null ? { open: true, until: null } : slotState(calendar.slots, now);
  const freeze = spanState(calendar.freezes, now);
  const startable = isOpen(calendar, now);
  return {
    key: sources.key,
    ready,
    window: {
      open: slot.open,
      opens_at: startable ? null : nextOpening(calendar, now),
      closes_at: startable ? nextClosing(calendar, now) : null,
      zone: window?.time_zone ?? null,
    },
    frozen_until: freeze.inside ? freeze.until : null,
    freeze_reason: freeze.inside ? freezeReason(allOf(sources), now) : null,
    changes_at: earliest(slot.until, freeze.until),
  };
}
