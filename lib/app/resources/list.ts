import type { Managed } from '../../domain/shared/fleet.ts';
import { MINUTE } from '../../domain/shared/time.ts';
import { invalid } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';
import type { Clock, KeyPage, Listing, ObjectStore, ObjectType, ObjectTypes } from '../ports.ts';

/** Lists of objects (DESIGN A11): one partition per organization, merged for administrators; newest first. */

type Objects = { readonly objects: ObjectStore };

const IDS_AT_ONCE = 1000;
const ROWS_AT_ONCE = 500;

export interface ListFilters {
  /** null = both. */
  readonly archived: boolean | null;
  readonly name?: string;
  readonly name_exact?: string;
  readonly search?: string;
  readonly organizations?: readonly string[];
  readonly workspaces?: readonly string[];
  readonly created_by_component?: string;
}

/** Types that belong to no organization; all others are listed under theirs. */
const GLOBAL: readonly ObjectType[] = ['organization', 'block_rollout_config'];

/** A row's place in a list. */
interface Place {
  readonly id: string;
  readonly created_at: number;
}

const REMEMBERED_FOR = MINUTE;
const MOST_REMEMBERED = 20;

/** What the first page of a list found, for the pages that follow it soon: counting exactly takes all rows, and once is enough. */
export class ListMemory {
  readonly #clock: Clock;
  readonly #lists = new Map<string, { readonly at: number; readonly places: readonly Place[] }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  recall(key: string): readonly Place[] | null {
    const list = this.#lists.get(key);
    return list !== undefined && this.#clock.now() - list.at < REMEMBERED_FOR ? list.places : null;
  }

  keep(key: string, places: readonly Place[]): void {
    this.#lists.delete(key);
    this.#lists.set(key, { at: this.#clock.now(), places });
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MOST_REMEMBERED && oldest !== undefined) this.#lists.delete(oldest);
  }
}

export interface ListRequest<T extends ObjectType> {
  readonly filters: ListFilters;
  /** Filters of this type alone. */
  readonly also?: (row: ObjectTypes[T]) => boolean;
  /** Remembers the order under this key, so that the pages after the first read their own rows only. */
  readonly kept?: { readonly memory: ListMemory; readonly key: string };
  /** Known parents cut the list before it is read: [workspace] or [workspace, cluster] in this organization. */
  readonly within?: Listing;
}

export async function listObjects<T extends ObjectType>(
  services: Objects,
  type: T,
  request: ListRequest<T>,
  page: PageRequest,
): Promise<Page<ObjectTypes[T]>> {
  const { kept } = request;
  const known = page.cursor === null ? null : (kept?.memory.recall(kept.key) ?? null);
  const all = known ?? (await passing(services, type, request));
  if (known === null) kept?.memory.keep(kept.key, all);
  return pageOf(all, page, async (shown) => {
    const found = await services.objects.getMany(
      type,
      shown.map(({ id }) => id),
    );
    return shown.flatMap(({ id }) => found.get(id) ?? []);
  });
}

const PARTITIONS_AT_ONCE = 16;

/** Where everything stands that the filters leave, newest first; equal times by id, so that pages never overlap. Rows are read in stretches and not kept. */
async function passing<T extends ObjectType>(services: Objects, type: T, request: ListRequest<T>): Promise<Place[]> {
  const where = request.within === undefined ? await placesOf(services, type, request.filters) : [request.within];
  const gone = new ArchivedParents(services);
  const passes = filterOf(request.filters);
  const found: Place[] = [];
  const lookAt = async (place: Listing): Promise<void> => {
    for await (const rows of stretches(services, type, place)) {
      if (request.filters.archived === false) await gone.learn(rows);
      for (const row of rows)
        if (passes(row) && !gone.isOver(row) && (request.also?.(row) ?? true)) found.push({ id: row.id, created_at: row.created_at });
    }
  };
  for (let at = 0; at < where.length; at += PARTITIONS_AT_ONCE)
    await Promise.all(where.slice(at, at + PARTITIONS_AT_ONCE).map((place) => lookAt(place)));
  return found.sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
}

async function pageOf<P extends Place, R>(
  sorted: readonly P[],
  page: PageRequest,
  load: (shown: readonly P[]) => Promise<readonly R[]>,
): Promise<Page<R>> {
  const start = page.cursor === null ? (page.page - 1) * page.page_size : startAfter(sorted, page.cursor);
  const shown = sorted.slice(start, start + page.page_size);
  const last = shown.at(-1);
  const more = last !== undefined && start + shown.length < sorted.length;
  return { count: sorted.length, rows: await load(shown), cursor: more ? `${last.created_at}.${last.id}` : null };
}

function startAfter(sorted: readonly Place[], cursor: string): number {
  const match = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(cursor);
  if (match === null) throw invalid('cursor', 'is not a cursor of this list; take it from the "next" of the page before.');
  const [at, id = ''] = [Number(match[1]), match[2]];
  const index = sorted.findIndex((row) => row.created_at < at || (row.created_at === at && row.id < id));
  return index < 0 ? sorted.length : index;
}

/** All rows of one place, whole. */
export async function everyRow<T extends ObjectType>(services: Objects, type: T, where: Listing): Promise<ObjectTypes[T][]> {
  const all: ObjectTypes[T][] = [];
  for await (const rows of stretches(services, type, where)) all.push(...rows);
  return all;
}

async function* stretches<T extends ObjectType>(services: Objects, type: T, where: Listing): AsyncGenerator<ObjectTypes[T][]> {
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds(type, where, { cursor, limit: ROWS_AT_ONCE });
    if (page.ids.length > 0) yield [...(await services.objects.getMany(type, page.ids)).values()];
    cursor = page.cursor;
  } while (cursor !== null);
}

async function everyId(services: Objects, type: ObjectType, where: Listing): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds(type, where, { cursor, limit: IDS_AT_ONCE });
    ids.push(...page.ids);
    cursor = page.cursor;
  } while (cursor !== null);
  return ids;
}

async function placesOf(services: Objects, type: ObjectType, filters: ListFilters): Promise<Listing[]> {
  if (GLOBAL.includes(type)) return [{ organization: null, path: [] }];
  if (filters.organizations !== undefined) return filters.organizations.map((organization) => ({ organization, path: [] }));
  const organizations = await everyId(services, 'organization', { organization: null, path: [] });
  return [null, ...organizations].map((organization) => ({ organization, path: [] }));
}

const parentsOf = (row: object): string[] =>
  ['organization', 'workspace'].flatMap((field) => {
    const id = (row as Readonly<Record<string, unknown>>)[field];
    return typeof id === 'string' ? [id] : [];
  });

/** What belongs to an archived organization or workspace is archived with it. Each parent is read once. */
class ArchivedParents {
  readonly #services: Objects;
  readonly #known = new Map<string, Promise<void>>();
  readonly #archived = new Set<string>();

  constructor(services: Objects) {
    this.#services = services;
  }

  async learn(rows: readonly object[]): Promise<void> {
    const ids = [...new Set(rows.flatMap(parentsOf))];
    const fresh = ids.filter((id) => !this.#known.has(id));
    const reading = this.#read(fresh);
    for (const id of fresh) this.#known.set(id, reading);
    await Promise.all(ids.map((id) => this.#known.get(id)));
  }

  isOver(row: object): boolean {
    return this.#archived.size > 0 && parentsOf(row).some((id) => this.#archived.has(id));
  }

  async #read(ids: readonly string[]): Promise<void> {
    const { objects } = this.#services;
    const [organizations, workspaces] = await Promise.all([objects.getMany('organization', ids), objects.getMany('workspace', ids)]);
    for (const parent of [...organizations.values(), ...workspaces.values()]) if (parent.archived) this.#archived.add(parent.id);
  }
}

function filterOf(
  filters: ListFilters,
): (row: Managed & { organization?: unknown; workspace?: unknown; created_by_component?: unknown }) => boolean {
  const { archived, name, name_exact, search, organizations, workspaces, created_by_component } = filters;
  const text = search?.toLowerCase();
  return (row) =>
    (archived === null || row.archived === archived) &&
    (name === undefined || row.name === name) &&
    (name_exact === undefined || row.name === name_exact) &&
    (text === undefined || row.name.toLowerCase().includes(text) || (row.display_name ?? '').toLowerCase().includes(text)) &&
    (organizations === undefined || organizations.includes(String(row.organization ?? row.id))) &&
    (workspaces === undefined || workspaces.includes(String(row.workspace ?? row.id))) &&
    (created_by_component === undefined || row.created_by_component === created_by_component);
}
