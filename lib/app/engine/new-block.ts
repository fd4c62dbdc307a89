import { BLOCK_DEFAULTS } from '../../domain/shared/defaults.ts';
import type { Block, K8sApp } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { newManaged } from '../managed.ts';
import type { Target } from './enqueue-targets.ts';
import type { EngineServices } from './services.ts';

/** SPEC §2.4: a target without a Block record gets one. */
export function newBlock(
  services: Pick<EngineServices, 'ids'>,
  config: BlockRolloutConfig,
  { target, app }: { target: Pick<Target, 'organization' | 'workspace' | 'cluster'>; app: K8sApp | null },
  now: Instant,
): Block {
  const parent = target.cluster?.id ?? target.workspace.id;
  const name = config.block_name ?? '';
  return {
    ...newManaged({ id: derivedId.block(services.ids, parent, name), name, now }),
    ...BLOCK_DEFAULTS,
    version: 1,
    organization: target.organization.id,
    workspace: target.workspace.id,
    k8s_cluster: target.cluster?.id ?? null,
    installed_version: app?.installed_version ?? null,
    created_by_brc: config.id,
    managed_by_brc: ownerIn(null, config),
  };
}

/** SPEC §2.8: a block belongs to the first reconciliation config that creates or enqueues it; a schedule does not keep others away. */
export const ownerIn = (block: Block | null, config: BlockRolloutConfig): string | null =>
  block?.managed_by_brc ?? (config.trigger_type === 'reconciliation' ? config.id : null);
