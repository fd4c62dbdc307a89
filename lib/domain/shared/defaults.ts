import type { Block, K8sApp, K8sCluster, Managed, Organization } from './fleet.ts';
import type { BlockRolloutConfig, Item } from './rollout.ts';

/** SPEC §1: what a field is when nobody has said anything else. Objects are made with these, and a row of the table keeps only what differs. */

export const MANAGED_DEFAULTS = {
  display_name: null,
  labels: {},
  annotations: {},
  archived: false,
  archived_at: null,
  archived_reason: null,
} satisfies Partial<Managed>;

/** Of an organization, and of a workspace, which inherits what is null or empty. */
export const OWNER_DEFAULTS = { criticality: null, contacts: [], maintenance_window: null } satisfies Partial<Organization>;

export const CLUSTER_DEFAULTS = {
  active: true,
  rollout_override: { paused: false, pause_reason: null, paused_until: null, version_override: null },
} satisfies Partial<K8sCluster>;

export const APP_DEFAULTS = {
  block: null,
  installed_version: null,
  last_reconciled: null,
  state: null,
  excluded_from_downtime_until: null,
} satisfies Partial<K8sApp>;

export const BLOCK_DEFAULTS = {
  k8s_cluster: null,
  from_block: null,
  app: null,
  block_version: null,
  installed_version: null,
  installed_at: null,
  config: {},
  config_hash: null,
  created_by_component: 'api',
  managed_by: null,
  auto_rollout: true,
  created_by_brc: null,
  managed_by_brc: null,
  installation_status: 'idle',
  last_installed_at: null,
  actions: [],
  kind: null,
  type: null,
  flavor: null,
  active_item: null,
  remembered: {},
} satisfies Partial<Block>;

export const CONFIG_DEFAULTS: Omit<BlockRolloutConfig, keyof Managed> = {
  kind: 'config',
  is_system_config: false,
  active: true,
  block_name: null,
  action_name: 'install',
  trigger_type: null,
  cron_expression: null,
  time_zone: 'UTC',
  schedule_since: null,
  target_kind: 'k8s_cluster',
  target_organizations: [],
  target_workspaces: [],
  scope_expressions: [],
  target_version: null,
  block_config_template: null,
  template_block: null,
  template_revision: 1,
  max_concurrent_percent: null,
  failure_threshold_percent: null,
  max_retries: null,
  retry_base_seconds: null,
  action_timeout_seconds: null,
  quiescence_seconds: null,
  early_brake: false,
  verify_version: true,
  soak_seconds: 0,
  hold_after_first_batch: false,
  park_after_hours: 168,
  allow_downgrade: false,
  maintenance_window: null,
  bypass_maintenance_window: false,
  auto_takeover: false,
  config_to_credential_mappings: [],
  notify_on_wave_blocked: true,
  enqueue_reason: null,
};

/** Of an item that has just been enqueued. */
export const ITEM_DEFAULTS = {
  k8s_cluster: null,
  rollout_config: null,
  action_name: 'install',
  source: 'scheduler',
  source_user: null,
  reason: null,
  rendered_target_version: null,
  config_hash: null,
  template_revision: 0,
  retry_count: 0,
  retry_after: null,
  action_run: null,
  attempts: [],
  tries: 0,
  dispatched_at: null,
  completed_at: null,
  forced: false,
  override_freeze: false,
  window_bypassed: false,
  allow_downgrade: false,
  in_maintenance: false,
  criticality: 'medium',
  parked_until: null,
  park_reason: null,
  absent_since: null,
} satisfies Partial<Item>;
