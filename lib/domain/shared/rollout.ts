import type { JsonObject, Managed } from './fleet.ts';
import type { Instant } from './time.ts';

/** SPEC §1: configs, waves, items and attempts as the engine sees them. */

/** The numbers of a config; null in a trigger config takes the system config's value (SPEC §1). */
export interface Limits {
  readonly max_concurrent_percent: number;
  readonly failure_threshold_percent: number;
  readonly max_retries: number;
  readonly retry_base_seconds: number;
  readonly action_timeout_seconds: number;
  readonly quiescence_seconds: number;
}

export type InheritedLimits = { readonly [K in keyof Limits]: number | null };

export interface CredentialMapping {
  readonly credential_name: string;
  readonly config_path: string;
}

export interface BlockRolloutConfig extends Managed, InheritedLimits {
  readonly kind: 'trigger' | 'config';
  readonly is_system_config: boolean;
  readonly active: boolean;
  readonly block_name: string | null;
  readonly action_name: string;
  readonly trigger_type: 'reconciliation' | 'schedule' | null;
  readonly cron_expression: string | null;
  readonly time_zone: string;
  /** Fires up to and with this instant are not its business; set when it is activated or its times change (SPEC §4). null = its last change. */
  readonly schedule_since: Instant | null;
  readonly target_kind: 'k8s_cluster' | 'workspace';
  readonly target_organizations: readonly string[];
  readonly target_workspaces: readonly string[];
  readonly scope_expressions: readonly string[];
  readonly target_version: string | null;
  readonly block_config_template: string | null;
  readonly template_block: string | null;
  /** Grows with each change of target_version, block_config_template or template_block. */
  readonly template_revision: number;
  readonly early_brake: boolean;
  readonly verify_version: boolean;
  readonly soak_seconds: number;
  readonly hold_after_first_batch: boolean;
  readonly park_after_hours: number;
  readonly allow_downgrade: boolean;
  readonly maintenance_window: string | null;
  readonly bypass_maintenance_window: boolean;
  readonly auto_takeover: boolean;
  readonly config_to_credential_mappings: readonly CredentialMapping[];
  readonly notify_on_wave_blocked: boolean;
  readonly enqueue_reason: string | null;
}

export type WaveStatus = 'active' | 'paused' | 'blocked' | 'completed' | 'cancelled';
export type ItemStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'retrying' | 'skipped';
export type RunStatus = 'pending' | 'running' | 'success' | 'failed' | 'cancelled';

/** SPEC §3.3: always total = done + in_progress + pending + failed + skipped; pending counts retrying too. */
export interface Counters {
  readonly total: number;
  readonly done: number;
  readonly in_progress: number;
  readonly pending: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Wave extends Managed {
  readonly batch_identifier: string;
  /** null for a manual item's wave that no config owns (SPEC §2.10). */
  readonly rollout_config: string | null;
  readonly block_name: string;
  readonly owner_kind: string | null;
  readonly target_version: string | null;
  readonly template_revision: number;
  readonly source: 'scheduler' | 'manual';
  /** Why it was opened, where that is worth a word: `late: due 2026-11-27T22:00Z`. */
  readonly reason: string | null;
  readonly status: WaveStatus;
  readonly status_reason: string | null;
  readonly counters: Counters;
  readonly quiescence_seconds: number;
  readonly last_item_added_at: Instant | null;
  /** True once a hold_after_first_batch pause was answered by a person (SPEC §3.12). */
  readonly canary_reviewed: boolean;
  /** Enqueue runs that are still adding to this wave: nothing starts meanwhile (SPEC §3.1). */
  readonly enqueue_runs: readonly string[];
  /** Who drives it: the execution's id; null before the first. */
  readonly driver: string | null;
  readonly generation: number;
  /** When the plan wants to look again; the tick wakes waves whose time has passed. */
  readonly recheck_at: Instant | null;
  readonly completed_at: Instant | null;
}

export interface Item extends Managed {
  readonly block: string;
  readonly block_name: string;
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string | null;
  readonly rollout: string;
  readonly rollout_config: string | null;
  readonly action_name: string;
  readonly status: ItemStatus;
  readonly source: 'scheduler' | 'manual';
  readonly source_user: string | null;
  /** Why it was enqueued, or why it ended failed or skipped. */
  readonly reason: string | null;
  readonly rendered_target_version: string | null;
  readonly config_hash: string | null;
  readonly template_revision: number;
  readonly retry_count: number;
  readonly retry_after: Instant | null;
  readonly action_run: string | null;
  /** Ids of all attempts, oldest first. */
  readonly attempts: readonly string[];
  /** Tries used since the last explicit retry; attempts <= 1 + max_retries (SPEC §3.6, I7). */
  readonly tries: number;
  readonly dispatched_at: Instant | null;
  readonly completed_at: Instant | null;
  readonly enqueued_at: Instant;
  readonly forced: boolean;
  readonly override_freeze: boolean;
  readonly window_bypassed: boolean;
  readonly allow_downgrade: boolean;
  readonly in_maintenance: boolean;
  readonly criticality: 'high' | 'medium' | 'low';
  /** The windows and freezes that apply, named by where they come from (DESIGN A6). */
  readonly calendar: string;
  /** Set while it is parked: held by something of its own, looked at again then (DESIGN A7). */
  readonly parked_until: Instant | null;
  readonly park_reason: string | null;
  /** Since when it has been held only by agent_silent / agent_missing (SPEC §3.12). */
  readonly absent_since: Instant | null;
}

/** Where an open attempt stands beyond pending/running (SPEC §7). */
export type RunPhase = 'queued' | 'executing' | 'verifying' | 'soaking' | 'ended';

export interface ActionRun extends Managed {
  readonly block: string;
  readonly block_name: string;
  readonly action: string;
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string | null;
  /** Presence key of the agent it was given to. */
  readonly agent: string;
  readonly rollout: string | null;
  readonly rollout_config: string | null;
  readonly item: string | null;
  readonly attempt: number;
  readonly status: RunStatus;
  readonly phase: RunPhase;
  readonly status_reason: string | null;
  readonly exit_code: number | null;
  readonly cancel_requested: boolean;
  readonly rendered_target_version: string | null;
  readonly config_hash: string | null;
  /** The version known when it was dispatched: a report that shows the target counts only if this was another one (SPEC §7). */
  readonly version_at_dispatch: string | null;
  readonly verify: boolean;
  readonly soak_seconds: number;
  readonly started_at: Instant | null;
  readonly finished_at: Instant | null;
  readonly dispatched_at: Instant;
  /** dispatched_at + action_timeout; then the end of verifying, then of soaking. */
  readonly deadline: Instant;
  /** Withdrawn when nobody claimed it by then (SPEC §7). */
  readonly claim_by: Instant;
}

/** SPEC §3.8, in this order. `maintenance_active`, `cli_managed`, `verifying`, `soaking` are for display. */
export const HOLD_CODES = [
  'platform_paused',
  'cluster_paused',
  'wave_paused',
  'wave_blocked',
  'wave_cancelled',
  'canary_review',
  'agent_missing',
  'agent_silent',
  'cluster_critical',
  'window_closed',
  'freeze',
  'canary_gate',
  'no_free_slot',
  'retry_backoff',
  'contact_missing',
] as const;
export type HoldCode = (typeof HOLD_CODES)[number];
export type BlockerCode = HoldCode | 'verifying' | 'soaking' | 'maintenance_active' | 'cli_managed' | 'enqueue_running';

export interface Blocker<C extends BlockerCode = BlockerCode> {
  readonly code: C;
  readonly detail: string | null;
  readonly until: Instant | null;
}

/** Platform settings, read fresh at each decision (SPEC §1). */
export interface SystemSettings {
  readonly revision: number;
  readonly OPERATOR_BLOCK_VERSION: string | null;
  readonly OPERATOR_ROLLOUT_PERCENTAGE: number;
  readonly AGENT_REPORT_INTERVAL_SECONDS: number;
  readonly AGENT_WARNING_AFTER_SECONDS: number;
  readonly AGENT_CRITICAL_AFTER_SECONDS: number;
  readonly RESYNC_MINUTES: number;
  readonly RETENTION_DAYS: number;
  readonly AUDIT_RETENTION_DAYS: number;
  readonly ROLLOUTS_PAUSED: { readonly reason: string } | null;
  /** SPEC §4: the maintenance window of whoever names and inherits none; null = always open. No key of SystemConfig: set by `is_system_default`. */
  readonly default_window: string | null;
  /** Free keys, usable in templates as system_config.<KEY>. */
  readonly free: JsonObject;
}
