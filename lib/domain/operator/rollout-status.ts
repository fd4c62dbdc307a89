import type { BlockerCode, ItemStatus } from '../shared/rollout.ts';
import { compareVersions } from '../version/compare.ts';

/** SPEC §5, in this order: the first that applies. */
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

export interface RolloutStatusFacts {
  readonly cluster_paused: boolean;
  /** The active item, else the last one; null when there never was one. */
  readonly item: { readonly status: ItemStatus; readonly target_version: string | null } | null;
  /** What holds the item now (SPEC §3.8). */
  readonly blockers: readonly BlockerCode[];
  readonly installed_version: string | null;
  readonly desired_version: string | null;
}

/** Waiting for its turn, or only a remark: not a gate. */
const NO_GATE: readonly BlockerCode[] = ['no_free_slot', 'retry_backoff', 'contact_missing', 'verifying', 'soaking', 'maintenance_active'];

export function rolloutStatus(f: RolloutStatusFacts): RolloutStatus {
  if (f.cluster_paused) return 'paused';
  return itemStatus(f) ?? versionStatus(f);
}

function itemStatus(f: RolloutStatusFacts): RolloutStatus | null {
  switch (f.item?.status) {
    case 'in_progress':
      return 'updating';
    case 'retrying':
      return 'retrying';
    case 'failed':
      // A failure with another target says nothing about the present one.
      return f.item.target_version === f.desired_version ? 'failed' : null;
    case 'pending':
      return f.blockers.some((code) => !NO_GATE.includes(code)) ? 'gated' : 'queued';
    default:
      return null;
  }
}

function versionStatus(f: RolloutStatusFacts): RolloutStatus {
  if (f.installed_version === null) return 'not_installed';
  if (f.desired_version === null) return 'up_to_date';
  switch (compareVersions(f.installed_version, f.desired_version, false)) {
    case 'first_install':
      return 'not_installed';
    case 'upgrade':
    case 'downgrade':
      return 'update_available';
    case 'installed_is_newer':
      return 'ahead';
    case 'up_to_date':
      return 'up_to_date';
  }
}
