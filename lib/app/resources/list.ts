import type { Managed } from '../../domain/shared/fleet.ts';
import { MINUTE } from '../../domain/shared/time.ts';
import { invalid } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';
import type { Clock, Listing, ObjectStore, ObjectType, ObjectTypes } from '../ports.ts';

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
  if (known !== null) return keptPage(services, type, known, page);
  const rows = await passing(services, type, request);
  kept?.memory.keep(
    kept.key,
    rows.map(({ id, created_at }) => ({ id, created_at })),
  );
  return pageOf(rows, page, async (shown) => shown);
}

/** Everything that the filters leave, newest first; equal times by id, so that pages never overlap. */
async function passing<T extends ObjectType>(services: Objects, type: T, request: ListRequest<T>): Promise<ObjectTypes[T][]> {
  const places = request.within === undefined ? await placesOf(services, type, request.filters) : [request.within];
  const rows = (await Promise.all(places.map((place) => everyRow(services, type, place)))).flat();
  const gone = request.filters.archived === false ? await archivedParents(services, rows) : new Set<string>();
  const passes = filterOf(request.filters);
  return rows
    .filter((row) => passes(row) && !isUnder(row, gone) && (request.also?.(row) ?? true))
    .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
}

/** The rows of a later page as they are now, in the places that they had on the first. */
async function keptPage<T extends ObjectType>(
  services: Objects,
  type: T,
  all: readonly Place[],
  page: PageRequest,
): Promise<Page<ObjectTypes[T]>> {
  return pageOf(all, page, async (shown) => {
    const found = await services.objects.getMany(
      type,
      shown.map(({ id }) => id),
    );
    return shown.flatMap(({ id }) => found.get(id) ?? []);
  });
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
  const rows: ObjectTypes[T][] = [];
  const ids = await everyId(services, type, where);
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    const found = await services.objects.getMany(type, ids.slice(at, at + ROWS_AT_ONCE));
    rows.push(...found.values());
  }
  return rows;
}

async function everyId(services: Objects, type: ObjectType, where: Listing): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await services.objects.listIds(type, where, { cursor, limit: IDS_AT_ONCE });
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

const isUnder = (row: object, gone: ReadonlySet<string>): boolean => gone.size > 0 && parentsOf(row).some((id) => gone.has(id));

/** What belongs to an archived organization or workspace is archived with it. */
async function archivedParents(services: Objects, rows: readonly object[]): Promise<Set<string>> {
  const ids = [...new Set(rows.flatMap(parentsOf))];
  const [organizations, workspaces] = await Promise.all([
    services.objects.getMany('organization', ids),
    services.objects.getMany('workspace', ids),
  ]);
  return new Set([...organizations.values(), ...workspaces.values()].filter((parent) => parent.archived).map((parent) => parent.id));
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
