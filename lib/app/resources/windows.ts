import type { WindowObject } from '../../domain/shared/fleet.ts';
import type { SystemSettings } from '../../domain/shared/rollout.ts';
import { parseWindow } from '../../domain/windows/parse-window.ts';
import type { MaintenanceWindow } from '../../domain/windows/window.ts';
import { derivedId } from '../derived-ids.ts';
import { AppError, conflict, invalid, sentence } from '../errors.ts';
import { newWindow } from '../import/records.ts';
import { everyRow } from './list.ts';
import type { ManagedFields } from './organizations.ts';
import type { ResourceServices } from './services.ts';
import { auditEvent, create, edit, findParent, follow, refuseRename } from './write.ts';

/** SPEC §1, §4: recurring maintenance windows. What the slots and freezes must be is said in one place, `parseWindow`. */

export interface WindowFields extends ManagedFields {
  readonly time_zone?: unknown;
  readonly time_slots?: unknown;
  readonly freezes?: unknown;
  readonly is_system_default?: boolean;
  readonly description?: string | null;
  readonly note?: string | null;
  readonly lead_time_days?: number | null;
  readonly notice_required?: boolean;
}

export type NewWindowFields = WindowFields & { readonly name: string; readonly organization?: string | null };

export async function createWindow(services: ResourceServices, fields: NewWindowFields, actor: string): Promise<WindowObject> {
  const { is_system_default = false, organization = null, time_zone, time_slots, freezes, ...plain } = fields;
  const rules = parsed({ time_zone, time_slots, freezes });
  if (organization !== null) await findParent(services, 'organization', organization, 'organization');
  const id = derivedId.window(services.ids, organization, fields.name);
  const born = newWindow({ id, name: fields.name, now: services.clock.now() }, { organization, workspace: null });
  const value: WindowObject = { ...born, ...plain, ...rules };
  if (is_system_default) refuseDefault(value);
  const window = await create(services, 'maintenance_window', value, actor);
  if (is_system_default) await setDefault(services, window, true, actor);
  return window;
}

/** Fields left out stay as they are. */
export async function updateWindow(services: ResourceServices, id: string, fields: WindowFields, actor: string): Promise<WindowObject> {
  const { is_system_default, time_zone, time_slots, freezes, ...plain } = fields;
  const given = Object.fromEntries(Object.entries({ time_zone, time_slots, freezes }).filter(([, value]) => value !== undefined));
  const window = await edit(services, 'maintenance_window', id, {
    actor,
    change: (before) => {
      refuseRename(before, fields.name);
      if (is_system_default === true) refuseDefault(before);
      return { ...before, ...plain, ...parsed({ ...rulesOf(before), ...given }) };
    },
  });
  if (is_system_default !== undefined) await setDefault(services, window, is_system_default, actor);
  return window;
}

const rulesOf = ({ time_zone, time_slots, freezes }: MaintenanceWindow): MaintenanceWindow => ({ time_zone, time_slots, freezes });

function parsed(fields: Readonly<Record<string, unknown>>): MaintenanceWindow {
  const result = parseWindow(fields);
  if (result.ok) return result.window;
  throw new AppError(
    'invalid',
    result.problems.map(({ path, code, reason }) => ({ code, detail: sentence(reason), attr: attrOf(path) })),
  );
}

/** `time_slots[0].start` is `time_slots.0.start` to the API. */
const attrOf = (path: string): string => path.replaceAll('[', '.').replaceAll(']', '');

function refuseDefault(window: WindowObject): void {
  if (window.archived) throw invalid('is_system_default', `"${window.name}" is archived; bring it back first.`);
  if (window.organization === null) return;
  throw invalid('is_system_default', `"${window.name}" belongs to an organization; the system default must belong to none.`);
}

const TRIES = 4;

/** SPEC §1 `is_system_default`: the settings name one window, so making another the default takes it from the first in the same write. */
async function setDefault(services: ResourceServices, { id }: WindowObject, isDefault: boolean, actor: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await services.settings.read();
    if ((before.default_window === id) === isDefault) return;
    const after: SystemSettings = { ...before, default_window: isDefault ? id : null };
    const audit = auditEvent(services, {
      actor,
      action: isDefault ? 'make_system_default' : 'end_system_default',
      organization: null,
      object_type: 'maintenance_window',
      object_id: id,
      before: { system_default: before.default_window },
      after: { system_default: after.default_window },
    });
    try {
      await services.settings.write(before, after, [{ kind: 'audit', event: audit }]);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'stale' && attempt < TRIES) continue;
      throw error;
    }
    return follow(services, { type: 'settings', id: 'settings', fields: ['default_window'] });
  }
}

/** An archived window counts for nobody, so whoever names it would suddenly start at other times. */
export async function refuseWhileNamed(services: ResourceServices, window: WindowObject): Promise<void> {
  const [owners, configs, settings] = await Promise.all([
    services.windows.owners(window.id),
    everyRow(services, 'block_rollout_config', { organization: null, path: [] }),
    services.settings.read(),
  ]);
  const named = configs.filter((config) => !config.archived && config.maintenance_window === window.id);
  const users = [
    ...(settings.default_window === window.id ? ['the system default'] : []),
    ...named.map((config) => `rollout config "${config.name}"`),
    ...(await ownerNames(services, owners.slice(0, 1))),
  ];
  const count = users.length + Math.max(0, owners.length - 1);
  if (count === 0) return;
  throw conflict(
    `The window is used in ${count} ${count === 1 ? 'place' : 'places'}, e.g. ${users[0]}. Archived, it counts for nobody: they would take the window that they ` +
      'inherit, or be always open. Give them another one first, or repeat with ?force=true.',
  );
}

async function ownerNames(
  services: ResourceServices,
  owners: Awaited<ReturnType<ResourceServices['windows']['owners']>>,
): Promise<string[]> {
  const found = await Promise.all(owners.map(({ type, id }) => services.objects.get(type, id)));
  return owners.map(({ type, id }, index) => `${type} "${found[index]?.name ?? id}"`);
}
