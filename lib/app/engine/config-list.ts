import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { KeyPage } from '../ports.ts';
import type { EngineServices } from './services.ts';

/** Trigger configs that are active and not archived, oldest first. */
export async function activeConfigs(services: Pick<EngineServices, 'objects'>): Promise<BlockRolloutConfig[]> {
  return (await allConfigs(services)).filter((c) => c.kind === 'trigger' && c.active && !c.archived);
}

/** Of any kind and state, oldest first; there are tens of them, not thousands. */
export async function allConfigs(services: Pick<EngineServices, 'objects'>): Promise<BlockRolloutConfig[]> {
  const all: BlockRolloutConfig[] = [];
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds('block_rollout_config', { organization: null, path: [] }, { cursor, limit: 200 });
    all.push(...(await services.objects.getMany('block_rollout_config', page.ids)).values());
    cursor = page.cursor;
  } while (cursor !== null);
  return all.sort((a, b) => (a.id < b.id ? -1 : 1));
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** By id or by name; of several with one name the one that can start something. */
export async function findConfig(services: Pick<EngineServices, 'objects'>, text: string): Promise<BlockRolloutConfig | null> {
  if (UUID.test(text)) return services.objects.get('block_rollout_config', text.toLowerCase(), true);
  const named = (await allConfigs(services)).filter((c) => c.name === text);
  return named.find((c) => c.kind === 'trigger' && c.active && !c.archived) ?? named.find((c) => !c.archived) ?? named[0] ?? null;
}
