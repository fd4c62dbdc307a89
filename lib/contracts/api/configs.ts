import * as z from 'zod';
import { id, idIn, instantOut, name, versionText } from './common.ts';
import { managedIn, managedOut, requestObject } from './managed.ts';

/** SPEC §1: block rollout configs. */

export const configKind = z.enum(['trigger', 'config']);
const triggerType = z.enum(['reconciliation', 'schedule']);
const targetKind = z.enum(['k8s_cluster', 'workspace']);

const limitsOut = {
  max_concurrent_percent: z.number().int().nullable(),
  failure_threshold_percent: z.number().int().nullable(),
  max_retries: z.number().int().nullable(),
  retry_base_seconds: z.number().int().nullable(),
  action_timeout_seconds: z.number().int().nullable(),
  quiescence_seconds: z.number().int().nullable(),
};

const configOut = {
  ...managedOut,
  kind: configKind,
  is_system_config: z.boolean(),
  active: z.boolean(),
  block_name: z.string().nullable(),
  action_name: z.string(),
  trigger_type: triggerType.nullable(),
  cron_expression: z.string().nullable(),
  time_zone: z.string(),
  next_fire_at: instantOut.nullable(),
  /** The next ten fires; `local` is the wall clock of `time_zone` with its offset. */
  next_fires: z.array(z.object({ at: instantOut, local: z.string() })),
  /** The latest fire that was done; `late` says when it was due if it was missed while the service was down. */
  last_fire: z.object({ due_at: instantOut, started_at: instantOut, late: z.string().nullable() }).nullable(),
  /** Whether the scheduler knows the times as they are; while `pending` fires are up to two minutes later. null = it does not fire. */
  schedule_status: z.enum(['ok', 'pending']).nullable(),
  schedule_status_reason: z.string().nullable(),
  target_kind: targetKind,
  target_organizations: z.array(id),
  target_organization_names: z.array(z.string()),
  target_workspaces: z.array(id),
  target_workspace_names: z.array(z.string()),
  scope_expressions: z.array(z.string()),
  target_version: z.string().nullable(),
  block_config_template: z.string().nullable(),
  template_block: z.string().nullable(),
  template_revision: z.number().int(),
  ...limitsOut,
  early_brake: z.boolean(),
  verify_version: z.boolean(),
  soak_seconds: z.number().int(),
  hold_after_first_batch: z.boolean(),
  park_after_hours: z.number().int(),
  allow_downgrade: z.boolean(),
  maintenance_window: z.string().nullable(),
  bypass_maintenance_window: z.boolean(),
  auto_takeover: z.boolean(),
  config_to_credential_mappings: z.array(z.object({ credential_name: z.string(), config_path: z.string() })),
  notify_on_wave_blocked: z.boolean(),
  enqueue_reason: z.string().nullable(),
};
export const config = z.object(configOut).meta({ id: 'BlockRolloutConfig' });

/** Answers of writes say how many targets the config means, so that nobody means all of them by accident (SPEC §1 "Scope"). */
export const configWritten = z.object({ ...configOut, targets_in_scope: z.number().int() }).meta({ id: 'BlockRolloutConfigWritten' });

/** Whole numbers only, and null where a trigger config inherits; "10%", 12.5 and NaN are refused here. */
const whole = (min: number, max: number) => z.number().int().min(min).max(max);
const inherited = (min: number, max: number) => whole(min, max).nullable().exactOptional();

const fields = {
  ...managedIn,
  kind: configKind.exactOptional(),
  active: z.boolean().exactOptional(),
  block_name: name.nullable().exactOptional(),
  action_name: z.string().min(1).max(100).exactOptional(),
  trigger_type: z
    .enum([...triggerType.options, ''], { error: 'must be reconciliation or schedule' })
    .nullable()
    .transform((v) => (v === '' ? null : v))
    .exactOptional(),
  cron_expression: z.string().max(100).nullable().exactOptional(),
  time_zone: z.string().min(1).max(100).exactOptional(),
  target_kind: targetKind.exactOptional(),
  target_organizations: z.array(idIn).max(5000).exactOptional(),
  target_workspaces: z.array(idIn).max(5000).exactOptional(),
  scope_expressions: z.array(z.string().min(1).max(4096)).max(50).exactOptional(),
  target_version: versionText.nullable().exactOptional(),
  block_config_template: z.string().max(262_144).nullable().exactOptional(),
  template_block: z.string().min(1).max(500).nullable().exactOptional(),
  max_concurrent_percent: inherited(1, 100),
  failure_threshold_percent: inherited(0, 100),
  max_retries: inherited(0, 10),
  retry_base_seconds: inherited(0, 3600),
  action_timeout_seconds: inherited(60, 604_800),
  quiescence_seconds: inherited(0, 86_400),
  early_brake: z.boolean().exactOptional(),
  verify_version: z.boolean().exactOptional(),
  soak_seconds: whole(0, 86_400).exactOptional(),
  hold_after_first_batch: z.boolean().exactOptional(),
  park_after_hours: whole(1, 8760).exactOptional(),
  allow_downgrade: z.boolean().exactOptional(),
  maintenance_window: idIn.nullable().exactOptional(),
  bypass_maintenance_window: z.boolean().exactOptional(),
  auto_takeover: z.boolean().exactOptional(),
  config_to_credential_mappings: z
    .array(z.strictObject({ credential_name: name, config_path: z.string().min(1).max(1000) }))
    .max(200)
    .exactOptional(),
  notify_on_wave_blocked: z.boolean().exactOptional(),
  enqueue_reason: z.string().max(500).nullable().exactOptional(),
  /** Refused with 409 and the number when it is not the number of targets in scope (SPEC §1). */
  expected_targets: whole(0, 10_000_000).exactOptional(),
};

const OWNED = [
  ...[
    'next_fire_at',
    'next_fires',
    'last_fire',
    'schedule_status',
    'schedule_status_reason',
    'rollouts_count',
    'last_rollout_status',
    'rendered_target_version',
    'rendered_template_block',
    'target_organization_names',
  ],
  ...['target_workspace_names', 'targets_in_scope', 'template_revision', 'organization', 'workspace', 'criticality'],
];
export const createConfig = requestObject({ ...fields, is_system_config: z.boolean().exactOptional() }, OWNED).meta({
  id: 'CreateBlockRolloutConfig',
});
/** The fields of a config as the fleet file and updates give them. */
export const updateConfig = requestObject(fields, [...OWNED, 'is_system_config']).meta({ id: 'UpdateBlockRolloutConfig' });

export const triggerNow = requestObject(
  { expected_targets: whole(0, 10_000_000).exactOptional() },
  Object.keys(configOut), // the public SDK sends the config itself along
).meta({ id: 'TriggerNow' });
export const triggered = z
  .object({
    ...configOut,
    targets_in_scope: z.number().int(),
    /** The wave that was made; null when every target had an active item already. */
    rollout: z.object({ id, url: z.string() }).nullable(),
    enqueued: z.number().int(),
    already_active: z.number().int(),
  })
  .meta({ id: 'Triggered' });

/** What one target would get if the config were looked at now. */
export const previewTarget = z.object({
  target_kind: targetKind,
  target_id: id,
  target: z.string(),
  workspace: z.string(),
  organization: z.string(),
  block: id.nullable(),
  installed_version: z.string().nullable(),
  target_version: z.string().nullable(),
  action: z.enum(['install', 'upgrade', 'uninstall', 'run', 'none', 'skip']),
  reason: z.string().nullable(),
  /** The maintenance window that counts; null = none does. */
  window: z
    .object({ id, name: z.string(), source: z.enum(['config', 'workspace', 'organization', 'system_default']), time_zone: z.string() })
    .nullable(),
  /**
   * When windows, freezes and Maintenances let it start; of a target whose item waits already, the `earliest_start` of that item. null = it gets
   * nothing and nothing of it waits, or nobody can say.
   */
  earliest_start: instantOut.nullable(),
  earliest_start_text: z.string().nullable(),
  /** Of a schedule: the same for each of next_fires, in their order; also while its block is busy with an item. */
  scheduled_starts: z.array(instantOut.nullable()),
});
export const preview = z
  .object({
    targets_in_scope: z.number().int(),
    /** How many targets would get which action. */
    actions: z.record(z.string(), z.number().int()),
    next_fires: z.array(z.object({ at: instantOut, local: z.string() })),
    count: z.number().int(),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(previewTarget),
  })
  .meta({ id: 'Preview' });
