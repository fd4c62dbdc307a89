import type { AppState } from '../domain/shared/fleet.ts';
import type { ActionRun, Blocker, Item, ItemStatus, RunStatus, Wave, WaveStatus } from '../domain/shared/rollout.ts';
import type { Instant, Millis } from '../domain/shared/time.ts';

/**
 * What the routes of waves, items, runs and the operator need from the engine. `actor` is the text that the audit shows
 * (`name (key prefix)`). Refusals are AppErrors: `not_found`, `conflict` (with `{id, url}` where one is meant), `invalid`.
 */
export interface EngineApi {
  pauseWave(id: string, reason: string | null, actor: string): Promise<Wave>;
  resumeWave(id: string, actor: string): Promise<Wave>;
  cancelWave(id: string, actor: string): Promise<Wave>;
  /** `items` left out = all failed ones (SPEC §3.9). */
  retryWave(id: string, options: { readonly items?: readonly string[] }, actor: string): Promise<RetryAnswer>;
  skipItem(id: string, reason: string | null, actor: string): Promise<Item>;
  forceItem(id: string, options: { readonly override_freeze: boolean; readonly reason: string | null }, actor: string): Promise<Item>;
  /** 409 with the active item when there is one (SPEC §2.5). */
  createManualItem(request: ManualItem, actor: string): Promise<Item>;
  triggerNow(config: string, options: { readonly expected_targets?: number }, actor: string): Promise<TriggerAnswer>;
  forceUpdate(cluster: string, actor: string): Promise<Item>;
  pauseCluster(cluster: string, options: { readonly reason: string | null; readonly until: Instant | null }, actor: string): Promise<void>;
  resumeCluster(cluster: string, actor: string): Promise<void>;
  takeover(block: string, actor: string): Promise<void>;

  waveView(id: string): Promise<WaveView>;
  itemView(id: string): Promise<ItemView>;
  listWaves(filters: WaveFilters, page: PageRequest): Promise<Page<Wave>>;
  listItems(filters: ItemFilters, page: PageRequest): Promise<Page<Item>>;
  listRuns(filters: RunFilters, page: PageRequest): Promise<Page<ActionRun>>;
  getRun(id: string): Promise<RunView>;
  operatorRollout(filters: OperatorFilters, page: PageRequest): Promise<OperatorRolloutAnswer>;
}

/** One page, either by number (1, 2, …) or after the cursor of the page before; newest first unless the list says otherwise. */
export interface PageRequest {
  readonly page_size: number;
  readonly page: number;
  readonly cursor: string | null;
}

export interface Page<T> {
  /** Exact, of everything that the filters leave. */
  readonly count: number;
  readonly rows: readonly T[];
  /** Hand it back to go on; null at the end. */
  readonly cursor: string | null;
}

export interface CommonFilters {
  /** null = both. */
  readonly archived: boolean | null;
  readonly name_exact?: string;
  readonly search?: string;
  readonly organizations?: readonly string[];
  readonly workspaces?: readonly string[];
}

export interface WaveFilters extends CommonFilters {
  readonly rollout_config?: string;
  readonly status?: WaveStatus;
}
export interface ItemFilters extends CommonFilters {
  readonly block?: string;
  readonly rollout?: string;
  readonly k8s_cluster?: string;
  readonly status?: ItemStatus;
  readonly source?: 'scheduler' | 'manual';
}
export interface RunFilters extends CommonFilters {
  readonly action?: string;
  readonly blocks?: readonly string[];
  readonly k8s_cluster?: string;
  readonly rollout?: string;
  readonly item?: string;
  readonly status?: RunStatus;
}

export interface ManualItem {
  readonly block: string;
  readonly action_name: string;
  readonly reason: string | null;
  readonly allow_downgrade: boolean;
}

export interface RetryAnswer {
  readonly wave: Wave;
  readonly retried: number;
  readonly conflicts: readonly { readonly item: string; readonly conflict: { readonly id: string; readonly url: string } }[];
  /** How many more failed items must be retried or skipped before the wave goes on; 0 when it does. */
  readonly still_to_retry_or_skip: number;
}

export interface TriggerAnswer {
  /** null when every target had an active item already. */
  readonly wave: Wave | null;
  readonly enqueued: number;
  readonly already_active: number;
}

export interface WaveView {
  readonly wave: Wave;
  /** 0–100 (SPEC §3.5). */
  readonly failure_rate: number;
  readonly failures_by_reason: readonly { readonly reason: string; readonly count: number; readonly sample_run: string | null }[];
  /** Starts that the limit allows at once, and how many of them are free now (SPEC §3.4). */
  readonly slots: number;
  readonly free_slots: number;
}

export interface ItemView {
  readonly item: Item;
  readonly blockers: readonly Blocker[];
  readonly earliest_start: Instant | null;
}

export interface RunView {
  readonly run: ActionRun;
  readonly log_stdout: string | null;
  readonly log_stderr: string | null;
}

/** SPEC §5, in the order in which they apply. */
export const ROLLOUT_STATUSES = [
  'paused',
  'updating',
  'retrying',
  'failed',
  'gated',
  'queued',
  'not_installed',
  'update_available',
  'ahead',
  'up_to_date',
] as const;
export type RolloutStatus = (typeof ROLLOUT_STATUSES)[number];

export interface OperatorFilters {
  readonly organizations?: readonly string[];
  readonly workspaces?: readonly string[];
  readonly k8s_cluster?: string;
  readonly search?: string;
  readonly state?: AppState;
  readonly rollout_status?: RolloutStatus;
  readonly installed_version?: string;
  readonly blocker?: string;
}

export interface OperatorRow {
  readonly cluster_id: string;
  readonly cluster: string;
  readonly workspace_id: string;
  readonly workspace: string;
  readonly organization_id: string;
  readonly organization: string;
  readonly installed_version: string | null;
  readonly desired_version: string | null;
  readonly last_seen: Instant | null;
  readonly silent_for: Millis | null;
  readonly state: AppState | null;
  readonly rollout_status: RolloutStatus;
  readonly blockers: readonly Blocker[];
  readonly earliest_start: Instant | null;
  /** Ids of the wave and the item that concern the cluster now; null when none does. */
  readonly rollout: string | null;
  readonly item: string | null;
}

export interface OperatorSummary {
  readonly clusters: number;
  readonly desired_version: string | null;
  readonly percentage: number;
  /** Places of the gate and how many are in use (SPEC §5). */
  readonly gate_places: number;
  readonly gate_updating: number;
  readonly by_status: Readonly<Record<RolloutStatus, number>>;
  readonly by_state: Readonly<Record<AppState | 'unknown', number>>;
  /** Out of date and without progress for 24 h while the gates were open. */
  readonly stuck: number;
}

export interface OperatorRolloutAnswer extends Page<OperatorRow> {
  readonly summary: OperatorSummary;
  /** Clusters per installed version, most first; null = unknown. */
  readonly histogram: readonly { readonly version: string | null; readonly count: number }[];
}
