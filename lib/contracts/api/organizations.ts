import * as z from 'zod';
import { criticality, idIn, name } from './common.ts';
import { managedIn, managedOut, reference, requestObject } from './managed.ts';

/** SPEC §1: organizations and workspaces. */

const contacts = z.array(z.email('must be an e-mail address').max(254)).max(50);
const inheritable = {
  criticality: criticality.nullable().exactOptional(),
  contacts: contacts.exactOptional(),
  maintenance_window: idIn.nullable().exactOptional(),
};

export const organization = z
  .object({
    ...managedOut,
    criticality: criticality.nullable(),
    effective_criticality: criticality,
    contacts: z.array(z.string()),
    maintenance_window: z.string().nullable(),
  })
  .meta({ id: 'Organization' });
const organizationFields = { ...managedIn, ...inheritable };
export const createOrganization = requestObject({ ...organizationFields, name }).meta({ id: 'CreateOrganization' });
export const updateOrganization = requestObject(organizationFields).meta({ id: 'UpdateOrganization' });

export const workspace = z
  .object({
    ...managedOut,
    organization: reference.nullable(),
    criticality: criticality.nullable(),
    effective_criticality: criticality,
    contacts: z.array(z.string()),
    maintenance_window: z.string().nullable(),
  })
  .meta({ id: 'Workspace' });
const workspaceFields = { ...managedIn, ...inheritable };
export const createWorkspace = requestObject({ ...workspaceFields, name, organization: idIn }).meta({ id: 'CreateWorkspace' });
export const updateWorkspace = requestObject(workspaceFields, ['organization', 'organization_id']).meta({ id: 'UpdateWorkspace' });
