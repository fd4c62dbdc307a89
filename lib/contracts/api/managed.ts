import * as z from 'zod';
import { displayName, id, instantOut, labels, name } from './common.ts';

/** What every object carries in an answer. */
export const managedOut = {
  id,
  name: z.string(),
  display_name: z.string().nullable(),
  labels,
  annotations: labels,
  created_at: instantOut,
  updated_at: instantOut,
  archived: z.boolean(),
  archived_at: instantOut.nullable(),
  archived_reason: z.string().nullable(),
  url: z.string(),
} as const;

/** An object that another one belongs to. */
export const reference = z.object({ id, name: z.string(), display_name: z.string().nullable(), url: z.string() }).meta({ id: 'Reference' });

/** SDKs send whole objects back, so labels may be null there: no labels. */
const labelsIn = labels.nullable().transform((value) => value ?? {});

/** Fields that people may set on every object. The name is fixed once it exists (the use case says so). */
export const managedIn = {
  name: name.exactOptional(),
  display_name: displayName.nullable().exactOptional(),
  labels: labelsIn.exactOptional(),
  annotations: labelsIn.exactOptional(),
} as const;

/**
 * Fields of the public base object that the service owns or does not keep. The public SDK reads an object, changes one field and sends the
 * whole back, so they are dropped from a request, whatever their value.
 */
const OWNED = [
  ...[
    'id',
    'created_at',
    'updated_at',
    'deleted_at',
    'is_deleted',
    'deleted_by_user',
    'created',
    'created_by',
    'url',
    'icon_url',
    'is_class_icon',
  ],
  ...['debug_mode', 'provider', 'provider_reference', 'provider_id', 'platform_service', 'scope', 'conditions', 'tolerations'],
  ...['state', 'last_state', 'state_reason', 'last_state_change', 'archived', 'archived_at', 'archived_reason', 'slug'],
  ...['reconciliation_enabled', 'reconciliation_running', 'reconciliation_task_id', 'reconciliation_task_meta', 'last_reconciliation'],
  ...[
    'last_reconciliation_duration_seconds',
    'discovery_enabled',
    'discovery_running',
    'discovery_task_id',
    'discovery_task_meta',
    'last_discovery',
  ],
  ...['repair_enabled', 'repair_running', 'repair_task_id', 'repair_task_meta', 'last_repair', 'effective_criticality', 'last_action_run'],
  ...[
    'target_availability',
    'actual_availability',
    'slo_target',
    'slo_availability',
    'sla_target',
    'sla_availability',
    'effective_slo_target',
  ],
  ...['effective_sla_target', 'condition_instance_count', 'active_condition_instances', 'organization_priority'],
] as const;

/** A request object: unknown fields are refused by name, the service's own (`owned` besides the base ones) are dropped. */
export function requestObject<S extends z.ZodRawShape>(shape: S, owned: readonly string[] = []) {
  const dropped = new Set<string>([...OWNED, ...owned].filter((field) => !(field in shape)));
  return z.preprocess((body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
    return Object.fromEntries(Object.entries(body).filter(([field]) => !dropped.has(field)));
  }, z.strictObject(shape));
}
