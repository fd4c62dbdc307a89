import type { Criticality, Labels, Organization, Workspace } from '../../domain/shared/fleet.ts';
import { derivedId } from '../derived-ids.ts';
import { invalid } from '../errors.ts';
import { newOrganization, newWorkspace } from '../import/records.ts';
import type { ResourceServices } from './services.ts';
import { create, edit, findParent, refuseRename } from './write.ts';

/** Fields that people set on every object. */
export interface ManagedFields {
  readonly name?: string;
  readonly display_name?: string | null;
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

export interface InheritedFields extends ManagedFields {
  readonly criticality?: Criticality | null;
  readonly contacts?: readonly string[];
  readonly maintenance_window?: string | null;
}

/**
 * The recurring window that an object names must exist, not be archived, and not belong to another organization (null = the object is the
 * platform's and may name any); what it had before is not asked again.
 */
export async function requireWindow(
  services: ResourceServices,
  id: string | null | undefined,
  organization: string | null,
  before: string | null = null,
): Promise<void> {
  if (id === undefined || id === null || id === before) return;
  const window = await findParent(services, 'maintenance_window', id, 'maintenance_window');
  if (organization !== null && window.organization !== null && window.organization !== organization)
    throw invalid('maintenance_window', `"${window.name}" belongs to another organization.`);
}

export async function createOrganization(
  services: ResourceServices,
  fields: InheritedFields & { readonly name: string },
  actor: string,
): Promise<Organization> {
  const id = derivedId.organization(services.ids, fields.name);
  await requireWindow(services, fields.maintenance_window, id);
  return create(services, 'organization', { ...newOrganization({ id, name: fields.name, now: services.clock.now() }), ...fields }, actor);
}

export function updateOrganization(services: ResourceServices, id: string, fields: InheritedFields, actor: string): Promise<Organization> {
  return edit(services, 'organization', id, {
    actor,
    change: async (before) => {
      refuseRename(before, fields.name);
      await requireWindow(services, fields.maintenance_window, id, before.maintenance_window);
      return { ...before, ...fields };
    },
    touches: (before, after) => (before.labels === after.labels ? null : { organizations: [id] }),
  });
}

export async function createWorkspace(
  services: ResourceServices,
  fields: InheritedFields & { readonly name: string; readonly organization: string },
  actor: string,
): Promise<Workspace> {
  const organization = await findParent(services, 'organization', fields.organization, 'organization');
  await requireWindow(services, fields.maintenance_window, organization.id);
  const id = derivedId.workspace(services.ids, organization.id, fields.name);
  const born = newWorkspace({ id, name: fields.name, now: services.clock.now() }, organization.id);
  return create(services, 'workspace', { ...born, ...fields }, actor, { workspaces: [id] });
}

export function updateWorkspace(services: ResourceServices, id: string, fields: InheritedFields, actor: string): Promise<Workspace> {
  return edit(services, 'workspace', id, {
    actor,
    change: async (before) => {
      refuseRename(before, fields.name);
      await requireWindow(services, fields.maintenance_window, before.organization, before.maintenance_window);
      return { ...before, ...fields };
    },
    touches: (before, after) => (before.labels === after.labels ? null : { workspaces: [id] }),
  });
}
