import type { MaintenanceWindow } from '../windows/window.ts';
import type { Instant } from './time.ts';

/** SPEC §1: the objects of the fleet as the engine sees them. Wire names and table names are the same. */

export type Criticality = 'high' | 'medium' | 'low';
export type Component = 'cli' | 'operator' | 'api';
export type Labels = Readonly<Record<string, string>>;
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** What every object carries. `version` grows by one with each write and is the condition of the next. */
export interface Managed {
  readonly id: string;
  readonly name: string;
  readonly display_name: string | null;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly created_at: Instant;
  readonly updated_at: Instant;
  readonly archived: boolean;
  readonly archived_at: Instant | null;
  readonly archived_reason: string | null;
  readonly version: number;
}

export interface Organization extends Managed {
  readonly criticality: Criticality | null;
  readonly contacts: readonly string[];
  readonly maintenance_window: string | null;
}

export interface Workspace extends Managed {
  readonly organization: string;
  readonly criticality: Criticality | null;
  readonly contacts: readonly string[];
  readonly maintenance_window: string | null;
}

/** SPEC §1, §5: what an administrator said about one cluster. Ends by itself at `paused_until`. */
export interface RolloutOverride {
  readonly paused: boolean;
  readonly pause_reason: string | null;
  readonly paused_until: Instant | null;
  readonly version_override: string | null;
}

export interface K8sCluster extends Managed {
  readonly organization: string;
  readonly workspace: string;
  readonly active: boolean;
  readonly rollout_override: RolloutOverride;
}

export interface ManagedBy {
  readonly kind: string;
  readonly id: string | null;
}

/** SPEC §2.6: how the last item of a config for this block ended, so that reconciliation does not loop. */
export interface Remembered {
  readonly target_version: string | null;
  readonly config_hash: string | null;
  readonly outcome: 'failed' | 'skipped';
  readonly reason: string | null;
}

export interface Block extends Managed {
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string | null;
  readonly from_block: string | null;
  readonly app: string | null;
  readonly block_version: string | null;
  readonly installed_version: string | null;
  readonly installed_at: Instant | null;
  readonly config: JsonObject;
  readonly config_hash: string | null;
  readonly created_by_component: Component;
  readonly managed_by: ManagedBy | null;
  readonly auto_rollout: boolean;
  readonly created_by_brc: string | null;
  readonly managed_by_brc: string | null;
  readonly installation_status: 'idle' | 'installing' | 'uninstalling' | 'install_failed' | 'uninstall_failed';
  readonly last_installed_at: Instant | null;
  readonly actions: readonly string[];
  readonly kind: string | null;
  readonly type: string | null;
  readonly flavor: string | null;
  /** The one active item of this block (SPEC §2.5); the condition of the write that makes an item. */
  readonly active_item: string | null;
  /** SPEC §2.6, per config id. */
  readonly remembered: Readonly<Record<string, Remembered>>;
}

export type AppState = 'OK' | 'WARNING' | 'CRITICAL';

export interface K8sApp extends Managed {
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string;
  readonly block: string | null;
  /** What the cluster last said (or the fleet file when the record was made). */
  readonly installed_version: string | null;
  /** When an agent last reported this app; null while only the fleet file spoke. */
  readonly last_reconciled: Instant | null;
  readonly state: AppState | null;
  readonly excluded_from_downtime_until: Instant | null;
}

/** The name of the operator's block and app (SPEC §5). */
export const OPERATOR_BLOCK = 'ayedo/k8s/polycrate-operator';
export const OPERATOR_APP = 'polycrate-operator';

/**
 * SPEC §1 MaintenanceWindow as an object of its own, made through the API or by a fleet file for its owner. Whether it is the system default is
 * in the settings, where there is room for one only.
 */
export interface WindowObject extends Managed, MaintenanceWindow {
  /** Whose it is; null = the platform's, for everybody to name. */
  readonly organization: string | null;
  /** The workspace for which a fleet file made it. */
  readonly workspace: string | null;
  /** Kept for people and other programs; nothing here acts on these four. */
  readonly description: string | null;
  readonly note: string | null;
  readonly lead_time_days: number | null;
  readonly notice_required: boolean;
}

export interface Maintenance extends Managed {
  readonly organization: string | null;
  readonly k8s_clusters: readonly string[];
  readonly workspaces: readonly string[];
  readonly start: Instant;
  readonly end: Instant;
  readonly draft: boolean;
}
