import { NO_FREEZE, NO_WINDOW } from '../../domain/item/lane.ts';
import type { CalendarFacts } from '../../domain/plan/facts.ts';
import type { Organization, Workspace } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { calendarFacts, type WindowSources } from '../../domain/windows/calendar.ts';
import type { MaintenanceWindow } from '../../domain/windows/window.ts';
import type { Ruling } from './configs.ts';
import type { EngineServices } from './services.ts';

/** The calendar of a target that has no window of its own: always open, but for what the config says. */
export const ALWAYS_OPEN = 'always';

/** Calendars are named by where their windows come from, so that editing a window changes no item (DESIGN A6). */
export function calendarKey(
  workspace: Pick<Workspace, 'id' | 'maintenance_window'>,
  organization: Pick<Organization, 'id' | 'maintenance_window'>,
): string {
  if (workspace.maintenance_window !== null) return `w:${workspace.id}`;
  return organization.maintenance_window === null ? ALWAYS_OPEN : `o:${organization.id}`;
}

export const alwaysOpen = (ready: number, key = ALWAYS_OPEN): CalendarFacts => ({
  key,
  ready,
  window: { open: true, opens_at: null, closes_at: null },
  frozen_until: null,
  changes_at: null,
});

const baseOf = (key: string): string => (key.startsWith(NO_WINDOW) || key.startsWith(NO_FREEZE) ? key.slice(2) : key);

/** SPEC §4: each calendar evaluated once, with windows and freezes read fresh. Costs nothing where nobody has a window. */
export async function calendarsOf(
  services: EngineServices,
  ruling: Pick<Ruling, 'config'>,
  lanes: readonly { readonly key: string; readonly ready: number }[],
  now: Instant,
): Promise<Map<string, CalendarFacts>> {
  const bases = [...new Set(lanes.map(({ key }) => baseOf(key)))];
  const sources = await sourcesOf(services, ruling.config?.maintenance_window ?? null, bases);
  return new Map(lanes.map(({ key, ready }) => [key, laneFacts(key, ready, sources.get(baseOf(key)) ?? NOTHING, now)]));
}

const NOTHING: WindowSources = { config: null, workspace: null, organization: null, systemDefault: null };

function laneFacts(key: string, ready: number, sources: WindowSources, now: Instant): CalendarFacts {
  if (key.startsWith(NO_FREEZE)) return alwaysOpen(ready, key);
  const facts = calendarFacts({ ...sources, key }, ready, now);
  if (!key.startsWith(NO_WINDOW)) return facts;
  return { ...facts, window: { open: true, opens_at: null, closes_at: null }, changes_at: facts.frozen_until ?? facts.changes_at };
}

async function sourcesOf(services: EngineServices, config: string | null, bases: readonly string[]): Promise<Map<string, WindowSources>> {
  const named = (letter: string): string[] => bases.flatMap((base) => (base.startsWith(`${letter}:`) ? [base.slice(2)] : []));
  const workspaces = await services.objects.getMany('workspace', named('w'));
  const organizations = await services.objects.getMany('organization', [
    ...named('o'),
    ...[...workspaces.values()].map((w) => w.organization),
  ]);
  const ids = [config, ...[...workspaces.values(), ...organizations.values()].map((o) => o.maintenance_window)].filter((id) => id !== null);
  const windows = ids.length === 0 ? new Map<string, MaintenanceWindow>() : await services.windows.many([...new Set(ids)]);
  const of = (id: string | null | undefined): MaintenanceWindow | null => (id == null ? null : (windows.get(id) ?? null));
  return new Map(
    bases.map((base) => {
      const workspace = base.startsWith('w:') ? workspaces.get(base.slice(2)) : undefined;
      const organization = organizations.get(workspace?.organization ?? base.slice(2));
      return [
        base,
        {
          config: of(config),
          workspace: of(workspace?.maintenance_window),
          organization: of(organization?.maintenance_window),
          systemDefault: null,
        },
      ];
    }),
  );
}
