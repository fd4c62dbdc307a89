import * as z from 'zod';
import { id, idIn, instantIn, instantOut } from './common.ts';
import { managedIn, managedOut, reference, requestObject } from './managed.ts';

/** SPEC §1, §6: dated maintenances, and downtimes (which the service writes). */

export const maintenance = z
  .object({
    ...managedOut,
    organization: reference.nullable(),
    k8s_clusters: z.array(id),
    workspaces: z.array(id),
    start: instantOut,
    end: instantOut,
    draft: z.boolean(),
    is_active: z.boolean(),
  })
  .meta({ id: 'Maintenance' });

const scope = z.array(idIn).max(1000);
const fields = {
  ...managedIn,
  k8s_clusters: scope.exactOptional(),
  workspaces: scope.exactOptional(),
  start: instantIn.exactOptional(),
  end: instantIn.exactOptional(),
  draft: z.boolean().exactOptional(),
};
export const createMaintenance = requestObject(
  { ...fields, start: instantIn, end: instantIn, organization: idIn.nullable().exactOptional() },
  ['is_active', 'workspace', 'criticality', 'kind', 'created_by_component'],
).meta({ id: 'CreateMaintenance' });
export const updateMaintenance = requestObject(fields, [
  ...['is_active', 'organization', 'organization_id', 'workspace', 'criticality', 'kind', 'created_by_component'],
]).meta({ id: 'UpdateMaintenance' });

export const downtimeKind = z.enum(['generic', 'planned-maintenance', 'false-positive']);
export const downtime = z
  .object({
    ...managedOut,
    organization: reference.nullable(),
    workspace: reference.nullable(),
    k8s_cluster: id,
    agent: z.string(),
    kind: downtimeKind,
    started_at: instantOut,
    ended_at: instantOut.nullable(),
    is_active: z.boolean(),
    counts_towards_sla: z.boolean(),
  })
  .meta({ id: 'Downtime' });
