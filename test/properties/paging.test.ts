import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedLanes, type Lane, listedLane, mergedLane, type Page, readPage } from '../../lib/app/paging.ts';

interface Row {
  readonly id: string;
  readonly even: boolean;
}

const id = (n: number): string => n.toString(16).padStart(6, '0');
const even = (place: string): boolean => Number.parseInt(place, 16) % 2 === 0;

/** An index in memory; it notes how many entries were asked for. */
function laneOf(name: string, places: readonly string[], newest_first: boolean, asked: { most: number }): Lane {
  const sorted = newest_first ? [...places].sort().reverse() : [...places].sort();
  return {
    name,
    count: async () => sorted.length,
    places: async (after, limit) => {
      asked.most = Math.max(asked.most, limit);
      return sorted.filter((place) => after === null || (newest_first ? place < after : place > after)).slice(0, limit);
    },
  };
}

const list = fc.record({
  lanes: fc.array(fc.uniqueArray(fc.nat(5_000), { maxLength: 60 }), { maxLength: 40 }),
  page_size: fc.integer({ min: 1, max: 25 }),
  filtered: fc.boolean(),
  counted: fc.boolean(),
  merged: fc.boolean(),
  /** Ids that the index still shows and the table has no more. */
  lost: fc.boolean(),
});

test('pages show every entry that passes once and in order, whether followed by cursor or by number, with the exact count on each', async () => {
  await fc.assert(
    fc.asyncProperty(list, async ({ lanes, page_size, filtered, counted, merged, lost }) => {
      // An entry stands in one lane only.
      const seen = new Set<number>();
      const own = lanes.map((lane) => lane.filter((n) => !seen.has(n) && seen.add(n)).map(id));
      const asked = { most: 0 };
      const made = own.map((places, n) => laneOf(`lane ${n}`, places, merged, asked));
      const passes = filtered ? (row: Row) => row.even : null;
      const gone = (place: string): boolean => lost && filtered && place.endsWith('4');
      const order = merged ? own.flat().sort().reverse() : own.flatMap((places) => [...places].sort());
      const expected = order.filter((place) => (!filtered || even(place)) && !gone(place));
      const read = (page: number, cursor: string | null): Promise<Page<Row>> =>
        readPage<Row>(
          {
            lanes: fixedLanes(merged ? [mergedLane(made)] : made),
            load: async (ids) => ids.filter((one) => !gone(one)).map((one) => ({ id: one, even: even(one) })),
            passes,
            ...(counted ? { count: async () => expected.length } : {}),
          },
          { page_size, page, cursor },
        );
      const followed: string[] = [];
      let cursor: string | null = null;
      for (let page = 1; ; page++) {
        const byCursor: Page<Row> = await read(1, cursor);
        const byNumber = await read(page, null);
        expect(byNumber.rows).toEqual(byCursor.rows);
        expect([byCursor.count, byNumber.count]).toEqual([expected.length, expected.length]);
        followed.push(...byCursor.rows.map((row) => row.id));
        cursor = byCursor.cursor;
        if (cursor === null) break;
      }
      expect(followed).toEqual(expected);
      expect(asked.most).toBeLessThanOrEqual(1_000);
    }),
  );
});

test('ids that are known already keep their order', async () => {
  const ids = ['c', 'a', 'b'];
  const read = (cursor: string | null) =>
    readPage<Row>(
      { lanes: fixedLanes([listedLane(ids)]), load: async (some) => some.map((one) => ({ id: one, even: true })), passes: null },
      { page_size: 2, page: 1, cursor },
    );
  const first = await read(null);
  expect([first.rows.map((row) => row.id), first.count]).toEqual([['c', 'a'], 3]);
  expect((await read(first.cursor)).rows.map((row) => row.id)).toEqual(['b']);
});

test.each([
  ['', 'no text'],
  ['%%%', 'no JSON'],
  [Buffer.from('[]').toString('base64url'), 'nothing in it'],
  [Buffer.from('["other",":",1,1]').toString('base64url'), 'a place that cannot be one'],
  [Buffer.from('["other","a",1,1]').toString('base64url'), 'a lane of another list'],
  [Buffer.from('["lane","a",-1,1]').toString('base64url'), 'a count below nothing'],
])('a made-up cursor (%s: %s) is refused by name', async (cursor) => {
  const lanes = fixedLanes([laneOf('lane', ['a'], false, { most: 0 })]);
  await expect(readPage<Row>({ lanes, load: async () => [], passes: null }, { page_size: 1, page: 1, cursor })).rejects.toMatchObject({
    kind: 'invalid',
    problems: [{ attr: 'cursor' }],
  });
});
