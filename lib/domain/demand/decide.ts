import type { Block, K8sApp, Remembered } from '../shared/fleet.ts';
import type { BlockRolloutConfig, Item } from '../shared/rollout.ts';
import { compareVersions } from '../version/compare.ts';
import { installedVersion } from './installed.ts';

export { installedVersion } from './installed.ts';

export interface DemandFacts {
  readonly run: 'reconciliation' | 'schedule' | 'manual';
  /** `id` is null for a manual item that no config stands behind (SPEC §2.10). */
  readonly config: Pick<BlockRolloutConfig, 'action_name' | 'allow_downgrade' | 'auto_takeover'> & { readonly id: string | null };
  /** null when the target has no Block record yet. */
  readonly block: Block | null;
  readonly app: K8sApp | null;
  readonly rendered: { readonly target_version: string | null; readonly config_hash: string | null };
  /** By a version_override, or by the PATCH that lowered OPERATOR_BLOCK_VERSION (SPEC §2.3). */
  readonly allow_downgrade: boolean;
  /** The config named by the block's managed_by_brc is neither archived nor inactive and covers this target (SPEC §2.8). */
  readonly owner_active: boolean;
  /** Somebody who could do it has reported lately: the cause of a `target_absent` is gone (SPEC §3.12). */
  readonly agent_present: boolean;
}

export type DemandWhy = 'first_install' | 'version' | 'drift' | 'uninstall' | 'schedule' | 'manual';
export type DemandSkip = 'cli_managed' | 'owned_by_other_config' | 'installed_is_newer';
export type DemandNothing = 'block_archived' | 'auto_rollout_off' | 'action_not_reconciled' | 'up_to_date' | 'not_installed' | 'remembered';

export type DemandDecision =
  | { readonly kind: 'nothing'; readonly why: DemandNothing }
  | { readonly kind: 'enqueue'; readonly downgrade: boolean; readonly why: DemandWhy }
  | { readonly kind: 'skipped'; readonly reason: DemandSkip };

/** SPEC §2.1–2.8: what one target needs from one config now. */
export function decideDemand(f: DemandFacts): DemandDecision {
  if (f.block?.archived) return { kind: 'nothing', why: 'block_archived' };
  if (f.run === 'reconciliation' && f.block?.auto_rollout === false) return { kind: 'nothing', why: 'auto_rollout_off' };
  const needed = neededBy(f);
  if (needed.kind === 'nothing') return needed;
  const decision = ownershipSkip(f) ?? needed;
  return f.run === 'reconciliation' && isRemembered(f, decision) ? { kind: 'nothing', why: 'remembered' } : decision;
}

function neededBy(f: DemandFacts): DemandDecision {
  switch (f.run) {
    case 'reconciliation':
      return reconcile(f);
    case 'schedule':
      return dated(f, 'schedule');
    case 'manual':
      return dated(f, 'manual');
  }
}

/** SPEC §2.1: reconciliation knows install and uninstall only. */
function reconcile(f: DemandFacts): DemandDecision {
  const installed = installedVersion(f.block, f.app);
  switch (f.config.action_name) {
    case 'install':
      return reconcileInstall(f, installed);
    case 'uninstall':
      if (installed === null) return { kind: 'nothing', why: 'not_installed' };
      return { kind: 'enqueue', downgrade: false, why: 'uninstall' };
    default:
      return { kind: 'nothing', why: 'action_not_reconciled' };
  }
}

function reconcileInstall(f: DemandFacts, installed: string | null): DemandDecision {
  if (installed === null || installed === '') return { kind: 'enqueue', downgrade: false, why: 'first_install' };
  const version = versionDemand(f, installed);
  if (version.kind !== 'nothing') return version;
  return hasDrifted(f.block?.config_hash ?? null, f.rendered.config_hash) ? { kind: 'enqueue', downgrade: false, why: 'drift' } : version;
}

function versionDemand(f: DemandFacts, installed: string | null): DemandDecision {
  const target = f.rendered.target_version;
  if (target === null) return { kind: 'nothing', why: 'up_to_date' };
  switch (compareVersions(installed, target, f.allow_downgrade || f.config.allow_downgrade)) {
    case 'first_install':
      return { kind: 'enqueue', downgrade: false, why: 'first_install' };
    case 'upgrade':
      return { kind: 'enqueue', downgrade: false, why: 'version' };
    case 'downgrade':
      return { kind: 'enqueue', downgrade: true, why: 'version' };
    case 'installed_is_newer':
      return { kind: 'skipped', reason: 'installed_is_newer' };
    case 'up_to_date':
      return { kind: 'nothing', why: 'up_to_date' };
  }
}

/** No stored hash = no drift (SPEC §2.1). */
function hasDrifted(stored: string | null, rendered: string | null): boolean {
  return stored !== null && rendered !== null && stored !== rendered;
}

/**
 * SPEC §2.2, §2.10: a schedule without a target version takes every target, with one only those out of date; a person's
 * trigger takes also those up to date. Nobody walks a target back to an older version by accident (§2.3).
 */
function dated(f: DemandFacts, why: 'schedule' | 'manual'): DemandDecision {
  const asked = { kind: 'enqueue', downgrade: false, why } as const;
  if (f.config.action_name === 'uninstall' || f.rendered.target_version === null) return asked;
  const version = versionDemand(f, installedVersion(f.block, f.app));
  switch (version.kind) {
    case 'enqueue':
      return { ...version, why };
    case 'skipped':
      return version;
    case 'nothing':
      return why === 'manual' ? asked : version;
  }
}

/** SPEC §2.8. Ownership is about who decides version and config; other actions change neither. */
function ownershipSkip(f: DemandFacts): DemandDecision | null {
  if (f.block === null) return null;
  const decides = f.config.action_name === 'install' || f.config.action_name === 'uninstall';
  const owner = f.block.managed_by_brc;
  if (decides && owner !== null && f.config.id !== null && owner !== f.config.id && f.owner_active) {
    return { kind: 'skipped', reason: 'owned_by_other_config' };
  }
  if (f.block.created_by_component === 'cli' && !f.config.auto_takeover) return { kind: 'skipped', reason: 'cli_managed' };
  return null;
}

/** Ended for reasons that say nothing about the next try (SPEC §2.6). */
const FORGOTTEN: readonly (string | null)[] = ['superseded', 'target_gone'];
/** Causes that this decision looks at itself: when it comes to another answer, the cause has changed. */
const LOOKED_AT: readonly (string | null)[] = ['cli_managed', 'owned_by_other_config', 'installed_is_newer', 'already_at_target'];

/** SPEC §2.6: the same (block, target version, config hash) is not enqueued again until something has changed. */
function isRemembered(f: DemandFacts, decision: DemandDecision): boolean {
  const last = rememberedBy(f);
  if (last === null || last.target_version !== f.rendered.target_version || last.config_hash !== f.rendered.config_hash) return false;
  if (FORGOTTEN.includes(last.reason)) return false;
  if (last.outcome === 'failed') return true;
  if (decision.kind === 'skipped') return decision.reason === last.reason;
  if (last.reason === 'target_absent') return !f.agent_present;
  return !LOOKED_AT.includes(last.reason);
}

function rememberedBy(f: DemandFacts): Remembered | null {
  const all = f.block?.remembered;
  if (all === undefined || f.config.id === null || !Object.hasOwn(all, f.config.id)) return null;
  return all[f.config.id] ?? null;
}

export interface StillNeededFacts {
  readonly item: Pick<Item, 'action_name' | 'rendered_target_version' | 'config_hash' | 'allow_downgrade'>;
  readonly block: Block | null;
  readonly app: K8sApp | null;
  /** The config's allow_downgrade or a version_override. */
  readonly allow_downgrade: boolean;
}

/** SPEC §2.7: demand looked at again just before dispatch. */
export function stillNeeded(f: StillNeededFacts): 'upgrade' | 'up_to_date' | 'installed_is_newer' {
  const { item, block } = f;
  const installed = installedVersion(block, f.app);
  if (item.action_name === 'uninstall') return installed === null ? 'up_to_date' : 'upgrade';
  if (item.action_name !== 'install' || item.rendered_target_version === null) return 'upgrade';
  switch (compareVersions(installed, item.rendered_target_version, item.allow_downgrade || f.allow_downgrade)) {
    case 'installed_is_newer':
      return 'installed_is_newer';
    case 'up_to_date':
      return hasDrifted(block?.config_hash ?? null, item.config_hash) ? 'upgrade' : 'up_to_date';
    default:
      return 'upgrade';
  }
}
