import { NO_FREEZE, NO_WINDOW } from '../../domain/item/lane.ts';
import type { CalendarFacts } from '../../domain/plan/facts.ts';
import type { WindowObject, Workspace } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { calendarFacts, type WindowSources } from '../../domain/windows/calendar.ts';
import type { Ruling } from './configs.ts';
import type { EngineServices } from './services.ts';

/** The calendar of a target whose workspace and organization name no window: the system default's, else always open. */
export const SYSTEM_CALENDAR = 'system';

type Named = Pick<Workspace, 'id' | 'maintenance_window'>;

/**
 * Calendars are named by where their windows come from, so that editing a window, or making another the system default, changes no item
 * (DESIGN A6). A name stays right when its owner's window is taken away: the calendar is looked up along the whole inheritance.
 */
export function calendarKey(workspace: Named | null | undefined, organization: Named | null | undefined): string {
  if (workspace?.maintenance_window != null) return `w:${workspace.id}`;
  return organization?.maintenance_window == null ? SYSTEM_CALENDAR : `o:${organization.id}`;
}

const OPEN: CalendarFacts['window'] = { open: true, opens_at: null, closes_at: null, zone: null };

export const alwaysOpen = (ready: number, key = SYSTEM_CALENDAR): CalendarFacts => ({
  key,
  ready,
  window: OPEN,
  frozen_until: null,
  freeze_reason: null,
  changes_at: null,
});

const baseOf = (key: string): string => (key.startsWith(NO_WINDOW) || key.startsWith(NO_FREEZE) ? key.slice(2) : key);

/** SPEC §4: each calendar evaluated once, with windows and freezes read fresh. Costs nothing where nobody has a window. */
export async function calendarsOf(
  services: EngineServices,
  ruling: Pick<Ruling, 'config' | 'settings'>,
  lanes: readonly { readonly key: string; readonly ready: number }[],
  now: Instant,
): Promise<Map<string, CalendarFacts>> {
  const sources = await windowsFor(
    services,
    ruling,
    lanes.map(({ key }) => baseOf(key)),
  );
  return new Map(lanes.map(({ key, ready }) => [key, laneFacts(key, ready, sources.get(baseOf(key)) ?? NOTHING, now)]));
}

/** The windows that count for a target, as objects: with their ids and names. */
export type WindowObjects = { readonly [S in keyof WindowSources]: WindowObject | null };

const NOTHING: WindowObjects = { config: null, workspace: null, organization: null, systemDefault: null };

function laneFacts(key: string, ready: number, sources: WindowSources, now: Instant): CalendarFacts {
  if (key.startsWith(NO_FREEZE)) return alwaysOpen(ready, key);
  const facts = calendarFacts({ ...sources, key }, ready, now);
  if (!key.startsWith(NO_WINDOW)) return facts;
  return { ...facts, window: { ...OPEN, zone: facts.window.zone }, changes_at: facts.frozen_until ?? facts.changes_at };
}

/** SPEC §4 "Which window", by calendar. Read strongly: a change that has been answered counts from the next decision on. */
export async function windowsFor(
  services: Pick<EngineServices, 'objects'>,
  { config, settings }: Pick<Ruling, 'config' | 'settings'>,
  calendars: readonly string[],
): Promise<Map<string, WindowObjects>> {
  const keys = [...new Set(calendars)];
  const named = (letter: string): string[] => keys.flatMap((key) => (key.startsWith(`${letter}:`) ? [key.slice(2)] : []));
  const workspaces = await read(services, 'workspace', named('w'));
  const organizations = await read(services, 'organization', [...named('o'), ...[...workspaces.values()].map((w) => w.organization)]);
  const windows = await read(services, 'maintenance_window', [
    ...[config?.maintenance_window, settings.default_window],
    ...[...workspaces.values(), ...organizations.values()].map((owner) => owner.maintenance_window),
  ]);
  const of = (id: string | null | undefined): WindowObject | null => {
    const window = windows.get(id ?? '');
    return window === undefined || window.archived ? null : window;
  };
  return new Map(
    keys.map((key) => {
      const workspace = key.startsWith('w:') ? workspaces.get(key.slice(2)) : undefined;
      const organization = organizations.get(workspace?.organization ?? key.slice(2));
      return [
        key,
        {
          config: of(config?.maintenance_window),
          workspace: of(workspace?.maintenance_window),
          organization: of(organization?.maintenance_window),
          systemDefault: of(settings.default_window),
        },
      ];
    }),
  );
}

async function read<T extends 'workspace' | 'organization' | 'maintenance_window'>(
  { objects }: Pick<EngineServices, 'objects'>,
  type: T,
  ids: readonly (string | null | undefined)[],
) {
  const wanted = [...new Set(ids.filter((id) => typeof id === 'string'))];
  return objects.getMany(type, wanted, true);
}
