import { localText } from '../../domain/recurrence/local-text.ts';
import type { WindowObject } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { resolveWindow } from '../../domain/windows/calendar.ts';
import { describeLength, describeUntil } from '../../domain/windows/describe.ts';
import { type Calendar, combineCalendars, isOpen, nextClosing, nextOpening, openings } from '../../domain/windows/openings.ts';
import { spanState } from '../../domain/windows/spans.ts';
import { calendarKey, windowsFor } from '../engine/calendars.ts';
import type { ResourceServices } from './services.ts';
import { find } from './write.ts';

/** An instant as programs and as people of a zone read it. */
export interface Moment {
  readonly at: Instant;
  readonly local: string;
}

export interface WindowPreview {
  readonly id: string;
  readonly time_zone: string;
  readonly open_now: boolean;
  readonly summary: string;
  readonly frozen_until: Moment | null;
  readonly next_opening: Moment | null;
  readonly next_closing: Moment | null;
  readonly openings: readonly { readonly opens: Moment; readonly closes: Moment | null; readonly duration: string | null }[];
}

const OPENINGS = 10;

/**
 * SPEC §4: when the window opens and closes, by the function that decides about starts. The freezes of the system default count for everybody, so
 * they are taken out too; those of a config, workspace or organization that inherits are shown where these are.
 */
export async function previewWindow(services: ResourceServices, id: string): Promise<WindowPreview> {
  const window = await find(services, 'maintenance_window', id);
  const [common, now] = [await systemDefault(services), services.clock.now()];
  const zone = window.time_zone;
  const calendar = combineCalendars(window, common === null ? [window] : [window, common]);
  const moment = (at: Instant | null): Moment | null => (at === null ? null : momentOf(at, zone));
  const freeze = spanState(calendar.freezes, now);
  return {
    id,
    time_zone: zone,
    open_now: isOpen(calendar, now),
    summary: summaryOf(calendar, now, zone),
    frozen_until: freeze.inside ? moment(freeze.until) : null,
    next_opening: moment(nextOpening(calendar, now)),
    next_closing: moment(nextClosing(calendar, now)),
    openings: openings(calendar, now, OPENINGS).map(({ opens_at, closes_at }) => ({
      opens: momentOf(opens_at, zone),
      closes: moment(closes_at),
      duration: closes_at === null ? null : describeLength(closes_at - opens_at),
    })),
  };
}

export const momentOf = (at: Instant, zone: string): Moment => ({ at, local: localText(at, zone) });

function summaryOf(calendar: Calendar, now: Instant, zone: string): string {
  const open = isOpen(calendar, now);
  const change = open ? nextClosing(calendar, now) : nextOpening(calendar, now);
  if (change === null) return open ? 'open, does not close' : 'does not open';
  return `${open ? 'open, closes' : 'opens'} ${describeUntil(now, change, zone)}`;
}

async function systemDefault(services: ResourceServices): Promise<WindowObject | null> {
  const { default_window } = await services.settings.read();
  const window = default_window === null ? null : await services.objects.get('maintenance_window', default_window, true);
  return window === null || window.archived ? null : window;
}

export interface WindowStatus {
  readonly open: boolean;
  readonly window: WindowObject | null;
}

/** The window that counts for a workspace by inheritance (SPEC §4), freezes included; no window = always open but for freezes. */
export async function windowStatus(services: ResourceServices, workspaceId: string): Promise<WindowStatus> {
  const workspace = await find(services, 'workspace', workspaceId);
  const [organization, settings] = [
    await services.objects.get('organization', workspace.organization, true),
    await services.settings.read(),
  ];
  const key = calendarKey(workspace, organization);
  const sources = (await windowsFor(services, { config: null, settings }, [key])).get(key);
  if (sources === undefined) return { open: true, window: null };
  const { from, calendar } = resolveWindow(sources);
  return { open: isOpen(calendar, services.clock.now()), window: from === null ? null : sources[from] };
}
