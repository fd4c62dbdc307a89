import type { Maintenance } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { conflict, invalid } from '../errors.ts';
import { newManaged } from '../managed.ts';
import type { ObjectType } from '../ports.ts';
import type { ManagedFields } from './organizations.ts';
import type { ResourceServices } from './services.ts';
import { create, edit, findParent } from './write.ts';

export interface MaintenanceFields extends ManagedFields {
  readonly k8s_clusters?: readonly string[];
  readonly workspaces?: readonly string[];
  readonly start?: Instant;
  readonly end?: Instant;
  readonly draft?: boolean;
}

export async function createMaintenance(
  services: ResourceServices,
  fields: MaintenanceFields & { readonly start: Instant; readonly end: Instant; readonly organization?: string | null },
  actor: string,
): Promise<Maintenance> {
  if (fields.organization != null) await findParent(services, 'organization', fields.organization, 'organization');
  const id = services.ids.fresh();
  const born = newManaged({ id, name: fields.name ?? `maintenance ${id.slice(0, 13)}`, now: services.clock.now() });
  const value: Maintenance = { ...born, organization: null, k8s_clusters: [], workspaces: [], draft: false, ...fields };
  await check(services, value, null);
  return create(services, 'maintenance', value, actor);
}

export function updateMaintenance(services: ResourceServices, id: string, fields: MaintenanceFields, actor: string): Promise<Maintenance> {
  return edit(services, 'maintenance', id, {
    actor,
    change: async (before) => {
      const after = { ...before, ...fields };
      await check(services, after, before);
      return after;
    },
  });
}

/** Ends it now; the windows that it opened close with it. */
export function completeMaintenance(services: ResourceServices, id: string, actor: string): Promise<Maintenance> {
  return edit(services, 'maintenance', id, {
    actor,
    action: 'complete_early',
    change: (before) => {
      const now = services.clock.now();
      if (now < before.start) throw conflict('The maintenance has not begun; change its start and end, or archive it.');
      return { ...before, end: Math.min(before.end, Math.max(now, before.start + 1)) };
    },
  });
}

async function check(services: ResourceServices, value: Maintenance, before: Maintenance | null): Promise<void> {
  if (value.end <= value.start) throw invalid('end', 'must be after start.');
  await requireAll(services, 'k8s_cluster', value, 'k8s_clusters', before?.k8s_clusters ?? []);
  await requireAll(services, 'workspace', value, 'workspaces', before?.workspaces ?? []);
}

/** Newly named ones must exist, and in the maintenance's organization if it has one. */
async function requireAll<T extends Extract<ObjectType, 'k8s_cluster' | 'workspace'>>(
  services: ResourceServices,
  type: T,
  value: Maintenance,
  attr: 'k8s_clusters' | 'workspaces',
  before: readonly string[],
): Promise<void> {
  const added = value[attr].filter((id) => !before.includes(id));
  if (added.length === 0) return;
  const found = await services.objects.getMany(type, added);
  for (const id of added) {
    const object = found.get(id);
    if (object === undefined) throw invalid(attr, `${id} does not exist.`, 'does_not_exist');
    if (value.organization !== null && object.organization !== value.organization)
      throw invalid(attr, `"${object.name}" belongs to another organization.`);
  }
}
