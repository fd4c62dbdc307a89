import { invalid } from './errors.ts';

/** Pages of lists (DESIGN A11): a page reads what it shows, whatever the list's length; only a filter that no index knows reads rows to skip them. */

export interface PageRequest {
  readonly page_size: number;
  readonly page: number;
  readonly cursor: string | null;
}

export interface Page<T> {
  /** Exact; as found by the first page when the request came with a cursor. */
  readonly count: number;
  readonly rows: readonly T[];
  readonly cursor: string | null;
}

/** A stretch of an index. A place is where an entry stands in it; it ends with the entry's id. */
export interface Lane {
  /** Says which stretch it is, in cursors. */
  readonly name: string;
  /** The places after one, in order; fewer than `limit` = there are no more. */
  places(after: string | null, limit: number): Promise<readonly string[]>;
  /** Counted on the index. */
  count(): Promise<number>;
}

/** The indexes that lists are served from. Lanes of objects, items and agents run by parent and id; those of waves and runs from the newest on. */
export interface ListStore {
  agents(organization: string, path: readonly string[]): Lane;
  waves(): Lane;
  /** Waves with items of this organization. */
  wavesOf(organization: string): Lane;
  items(wave: string, organization: string): Lane;
  runs(organization: string): Lane;
}

interface Identified {
  readonly id: string;
}

/** The lanes of a list, one after the other; from the one of this name on. */
export type Lanes = (from: string | null) => AsyncIterable<Lane>;

export interface ListOf<T extends Identified> {
  readonly lanes: Lanes;
  /** In the order asked for; missing ones are left out. */
  readonly load: (ids: readonly string[]) => Promise<readonly T[]>;
  /** What no index knows; null = every entry is shown. */
  readonly passes: ((row: T) => boolean) | null;
  /** How many pass, where somebody has counted already; left out, rows are read to count them. */
  readonly count?: () => Promise<number>;
}

export const fixedLanes = (lanes: readonly Lane[]): Lanes =>
  async function* from(name) {
    const at = name === null ? 0 : lanes.findIndex((lane) => lane.name === name);
    yield* at < 0 ? [] : lanes.slice(at);
  };

/** A few ids that are known already. */
export const listedLane = (ids: readonly string[]): Lane => ({
  name: 'listed',
  places: async (after, limit) => {
    const start = after === null ? 0 : ids.indexOf(after) + 1;
    return ids.slice(start, start + limit);
  },
  count: async () => ids.length,
});

/** Several lanes that run from the newest on, as one: their places are ids, which sort by time. */
export const mergedLane = (lanes: readonly Lane[]): Lane => ({
  name: 'merged',
  places: async (after, limit) => {
    const found: string[] = [];
    for (const group of groupsOf(lanes, LANES_AT_ONCE)) {
      const some = (await Promise.all(group.map((lane) => lane.places(after, limit)))).flat();
      found.push(...some);
      found.sort().reverse().splice(limit);
    }
    return found;
  },
  count: () => summed(lanes),
});

const ROWS_AT_ONCE = 200;
const KEYS_AT_ONCE = 1000;
const LANES_AT_ONCE = 16;

const idOf = (place: string): string => place.slice(place.lastIndexOf('#') + 1);

export async function readPage<T extends Identified>(list: ListOf<T>, request: PageRequest): Promise<Page<T>> {
  const from = request.cursor === null ? null : readCursor(request.cursor);
  const known = from?.count ?? (await knownCount(list));
  const before = from?.before ?? (request.page - 1) * request.page_size;
  const window = new Window<T>(from === null ? before : 0, request.page_size);
  const limit = list.passes === null ? Math.min(window.toSkip + request.page_size, KEYS_AT_ONCE) : ROWS_AT_ONCE;
  for await (const stretch of walk(list.lanes, from, limit)) {
    for (const entry of await passing(list, stretch, window)) window.take(entry);
    if (known !== null && (window.full || before + window.rows.length >= known)) break;
  }
  const count = known ?? window.passed;
  const shown = window.rows.length;
  const last = window.last;
  const more = last !== null && before + shown < count;
  return { count, rows: window.rows, cursor: more ? writeCursor({ ...last, count, before: before + shown }) : null };
}

async function knownCount<T extends Identified>({ lanes, passes, count }: ListOf<T>): Promise<number | null> {
  if (count !== undefined) return count();
  if (passes !== null) return null;
  let total = 0;
  for await (const group of groups(lanes(null))) total += await summed(group);
  return total;
}

async function summed(lanes: readonly Lane[]): Promise<number> {
  let total = 0;
  for (const group of groupsOf(lanes, LANES_AT_ONCE)) {
    for (const count of await Promise.all(group.map((lane) => lane.count()))) total += count;
  }
  return total;
}

interface Spot {
  readonly lane: string;
  readonly place: string;
}
interface Stretch {
  readonly lane: string;
  readonly places: readonly string[];
}
interface Entry<T> extends Spot {
  /** null = not needed: it is counted only. */
  readonly row: T | null;
}

/** What passes, in order. Without a filter only the rows to be shown are read. */
async function passing<T extends Identified>(
  { load, passes }: ListOf<T>,
  { lane, places }: Stretch,
  window: Window<T>,
): Promise<Entry<T>[]> {
  if (passes === null) {
    const skipped = Math.min(window.toSkip, places.length);
    const shown = places.slice(skipped, skipped + window.room);
    const entries: Entry<T>[] = places.slice(0, skipped).map((place) => ({ lane, place, row: null }));
    return [...entries, ...(await each(load, shown)).map((row, at) => ({ lane, place: shown[at] ?? '', row }))];
  }
  const rows = await each(load, places);
  return places.flatMap((place, at) => {
    const row = rows[at] ?? null;
    return row !== null && passes(row) ? [{ lane, place, row }] : [];
  });
}

/** One row for each place; null where there is none (an index may lag behind the table). */
async function each<T extends Identified>(load: ListOf<T>['load'], places: readonly string[]): Promise<(T | null)[]> {
  const ids = places.map(idOf);
  const rows = await load(ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** The entries of one page among those that pass. */
class Window<T> {
  readonly rows: T[] = [];
  passed = 0;
  last: Spot | null = null;
  readonly #skip: number;
  readonly #size: number;

  constructor(skip: number, size: number) {
    this.#skip = skip;
    this.#size = size;
  }

  get toSkip(): number {
    return Math.max(0, this.#skip - this.passed);
  }
  get room(): number {
    return this.#size - this.rows.length;
  }
  get full(): boolean {
    return this.room <= 0;
  }

  take({ lane, place, row }: Entry<T>): void {
    const skipped = this.toSkip > 0;
    this.passed += 1;
    if (skipped || this.full) return;
    this.last = { lane, place };
    if (row !== null) this.rows.push(row);
  }
}

/** Each lane's first stretch is read together with its neighbours': most lanes of a platform-wide list are short. */
async function* walk(lanes: Lanes, from: Spot | null, limit: number): AsyncGenerator<Stretch> {
  let isFirst = from !== null;
  for await (const group of groups(lanes(from?.lane ?? null))) {
    if (isFirst && group[0]?.name !== from?.lane) throw noCursor();
    isFirst = false;
    const firsts = await Promise.all(group.map((lane) => lane.places(lane.name === from?.lane ? from.place : null, limit)));
    for (const [n, lane] of group.entries()) yield* rest(lane, firsts[n] ?? [], limit);
  }
  if (isFirst) throw noCursor();
}

async function* groups(lanes: AsyncIterable<Lane>): AsyncGenerator<Lane[]> {
  let group: Lane[] = [];
  for await (const lane of lanes) {
    group.push(lane);
    if (group.length < LANES_AT_ONCE) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

async function* rest(lane: Lane, first: readonly string[], limit: number): AsyncGenerator<Stretch> {
  for (let places = first; places.length > 0; ) {
    yield { lane: lane.name, places };
    places = places.length < limit ? [] : await lane.places(places.at(-1) ?? null, limit);
  }
}

const groupsOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, n * size + size));

interface Cursor extends Spot {
  readonly count: number;
  /** How many come before. */
  readonly before: number;
}

const writeCursor = ({ lane, place, count, before }: Cursor): string =>
  Buffer.from(JSON.stringify([lane, place, count, before])).toString('base64url');

const noCursor = () => invalid('cursor', 'is not a cursor of this list; take it from the "next" of the page before.');

/** It comes from outside: it can name a place in one of the list's own lanes, and nothing else. */
function readCursor(text: string): Cursor {
  const [lane, place, count, before] = parsed(text);
  const isNumber = (n: unknown): n is number => typeof n === 'number' && Number.isSafeInteger(n) && n >= 0;
  const isPlace = typeof place === 'string' && /^[-0-9a-z#]{1,200}$/.test(place);
  if (typeof lane === 'string' && isPlace && isNumber(count) && isNumber(before)) return { lane, place, count, before };
  throw noCursor();
}

function parsed(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
