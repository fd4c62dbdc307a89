import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { KeyPage } from '../ports.ts';
import type { EngineServices } from './services.ts';

/** Trigger configs that are active and not archived, oldest first; there are tens of them, not thousands. */
export async function activeConfigs(services: Pick<EngineServices, 'objects'>): Promise<BlockRolloutConfig[]> {
  const all: BlockRolloutConfig[] = [];
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds('block_rollout_config', { organization: null, path: [] }, { cursor, limit: 200 });
    all.push(...(await services.objects.getMany('block_rollout_config', page.ids)).values());
    cursor = page.cursor;
  } while (cursor !== null);
  return all.filter((c) => c.kind === 'trigger' && c.active && !c.archived).sort((a, b) => (a.id < b.id ? -1 : 1));
}
