import { PRESENCE_PARTITIONS, type Presence, type PresenceStore } from './presence.ts';

const PAGE = 2_000;

/** All agents' rows (DESIGN A4): the sixteen partitions, side by side. */
export async function everyAgent({ presence }: { readonly presence: Pick<PresenceStore, 'scan'> }): Promise<Presence[]> {
  const partition = async (n: number): Promise<Presence[]> => {
    const rows: Presence[] = [];
    let cursor: string | null = null;
    do {
      const page = await presence.scan(n, cursor, PAGE);
      rows.push(...page.rows);
      cursor = page.cursor;
    } while (cursor !== null);
    return rows;
  };
  return (await Promise.all(Array.from({ length: PRESENCE_PARTITIONS }, (_, n) => partition(n)))).flat();
}
