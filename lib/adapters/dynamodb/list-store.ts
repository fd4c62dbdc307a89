import type { Lane, ListStore } from '../../app/paging.ts';
import type { Table } from './client.ts';
import { type Key, keys } from './keys.ts';

interface Stretch {
  readonly pk: string;
  readonly begins?: string;
  readonly newest_first?: boolean;
  /** The row behind an entry: its key is part of the index's. */
  readonly row: (id: string) => Key;
}

/** Lists, served from gsi1 (DESIGN A11). */
export class DynamoListStore implements ListStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  agents(organization: string, path: readonly string[]): Lane {
    return this.#lane({
      pk: keys.listingPartition('agent', organization),
      begins: keys.listingPrefix(path),
      row: (id) => keys.presence(id),
    });
  }

  waves(): Lane {
    return this.#lane({ pk: keys.listingPartition('block_rollout', null), newest_first: true, row: (id) => keys.waveRow(id) });
  }

  wavesOf(organization: string): Lane {
    const { gsi1pk } = keys.waveOrganizationListing(organization, '');
    return this.#lane({ pk: gsi1pk, newest_first: true, row: (id) => keys.waveOrganization(id, organization) });
  }

  items(wave: string, organization: string): Lane {
    return this.#lane({ pk: keys.itemListing(wave, organization, '').gsi1pk, row: (id) => keys.item(id) });
  }

  runs(organization: string): Lane {
    return this.#lane({ pk: keys.runListing(organization, '').gsi1pk, newest_first: true, row: (id) => keys.run(id) });
  }

  #lane({ pk, begins = '', newest_first = false, row }: Stretch): Lane {
    const index = { index: 'gsi1', pk, begins, newest_first } as const;
    const startOf = (place: string) => ({ gsi1pk: pk, gsi1sk: place, ...row(place.slice(place.lastIndexOf('#') + 1)) });
    return {
      name: `${pk}/${begins}`,
      count: () => this.#table.count(index),
      places: async (after, limit) => {
        // A place outside of the stretch can only come from a made-up cursor.
        if (after !== null && !after.startsWith(begins)) return [];
        const places: string[] = [];
        let start: Record<string, unknown> | null = after === null ? null : startOf(after);
        do {
          const page = await this.#table.query({ ...index, limit: limit - places.length, start });
          places.push(...page.rows.map((found) => String(found['gsi1sk'])));
          start = page.next;
        } while (start !== null && places.length < limit);
        return places;
      },
    };
  }
}
