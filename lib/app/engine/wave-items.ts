import type { Item, Wave } from '../../domain/shared/rollout.ts';
import type { EngineServices } from './services.ts';

/** Every item of a wave that passes, a page of rows at a time: organization by organization, oldest first. */
export async function* itemsOf(
  services: Pick<EngineServices, 'engine'>,
  wave: Pick<Wave, 'id'>,
  want: (item: Item) => boolean,
): AsyncGenerator<Item[]> {
  for (const organization of await services.engine.waveOrganizations(wave.id)) {
    let cursor: string | null = null;
    do {
      const page: { ids: readonly string[]; cursor: string | null } = await services.engine.itemIds(wave.id, organization, {
        cursor,
        limit: 100,
      });
      const items = [...(await services.engine.items(page.ids, true)).values()].filter(want);
      if (items.length > 0) yield items;
      cursor = page.cursor;
    } while (cursor !== null);
  }
}
