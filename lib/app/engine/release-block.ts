import type { Block } from '../../domain/shared/fleet.ts';
import type { Item } from '../../domain/shared/rollout.ts';
import type { BlockChange } from './ports.ts';

/**
 * Frees the block's place for another item (SPEC §2.5) and leaves on it how this one ended, so that reconciliation does not
 * enqueue the same again (SPEC §2.6). Only the latest end is kept: each config asks only for its own.
 */
export function releaseBlock(
  item: Item,
  end: { outcome: 'failed' | 'skipped'; reason: string | null } | { outcome: 'completed' },
  set: Partial<Block> = {},
): BlockChange {
  return { id: item.block, release: item.id, set: { ...set, remembered: rememberedOf(item, end) } };
}

function rememberedOf(item: Item, end: Parameters<typeof releaseBlock>[1]): Block['remembered'] {
  if (end.outcome === 'completed' || item.rollout_config === null) return {};
  return {
    [item.rollout_config]: {
      target_version: item.rendered_target_version,
      config_hash: item.config_hash,
      outcome: end.outcome,
      reason: end.reason,
    },
  };
}
