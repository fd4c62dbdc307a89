import type { Lane, ListStore } from '../../app/paging.ts';
import type { Table } from './client.ts';
import { type Key, keys } from './keys.ts';

interface Stretch {
  readonly pk: string;
  readonly begins?: string;
  readonly newest_first?: boolean;
  /** The row behind an entry of gsi1, whose key is part of the index's; null = the stretch is rows of the table itself. */
  readonly row: ((id: string) => Key) | null;
}

/** Lists, served from gsi1 or from rows that only say where something is (DESIGN A11). */
export class DynamoListStore implements ListStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  agents(organization: string, path: readonly string[]): Lane {
    return this.#lane({ pk: keys.agentPlaces(organization), begins: keys.listingPrefix(path), row: null });
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
    const index = { ...(row === null ? {} : { index: 'gsi1' as const }), pk, begins, newest_first };
    const startOf = (place: string) =>
      row === null ? { pk, sk: place } : { gsi1pk: pk, gsi1sk: place, ...row(place.slice(place.lastIndexOf('#') + 1)) };
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
          places.push(...page.rows.map((found) => String(found[row === null ? 'sk' : 'gsi1sk'])));
          start = page.next;
        } while (start !== null && places.length < limit);
        return places;
      },
    };
  }
}
