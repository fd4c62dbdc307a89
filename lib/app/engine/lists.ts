import type { ActionRun, Item, Wave } from '../../domain/shared/rollout.ts';
import { invalid } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';
import type { KeyPage } from '../ports.ts';
import type { EngineServices } from './services.ts';

export interface CommonFilters {
  readonly archived: boolean | null;
  readonly name_exact?: string;
  readonly search?: string;
  readonly organizations?: readonly string[];
  readonly workspaces?: readonly string[];
}
export interface WaveFilters extends CommonFilters {
  readonly rollout_config?: string;
  readonly status?: string;
}
export interface ItemFilters extends CommonFilters {
  readonly block?: string;
  readonly rollout?: string;
  readonly k8s_cluster?: string;
  readonly status?: string;
  readonly source?: string;
}
export interface RunFilters extends CommonFilters {
  readonly action?: string;
  readonly blocks?: readonly string[];
  readonly k8s_cluster?: string;
  readonly rollout?: string;
  readonly item?: string;
  readonly status?: string;
}

/** Numeric pages reach so deep; beyond that the cursor goes on (SPEC §9). */
const DEEPEST = 10_000;

/** Newest first. Waves are few beside items; their counters are read with them. */
export async function listWaves(services: EngineServices, filters: WaveFilters, page: PageRequest): Promise<Page<Wave>> {
  const ids = await everyId((o) => services.engine.waveIds(o));
  const filtered = filters.rollout_config !== undefined || filters.status !== undefined || hasText(filters) || filters.archived !== null;
  const load = async (some: readonly string[]): Promise<Wave[]> => {
    const states = await Promise.all(some.map((id) => services.engine.wave(id)));
    return states.flatMap((s) => (s === null ? [] : [s.wave]));
  };
  if (!filtered) return pageOf(ids, page, load);
  const waves = await inChunks(ids, load);
  return pageOf(
    waves.filter(
      (w) =>
        (filters.rollout_config === undefined || w.rollout_config === filters.rollout_config) &&
        (filters.status === undefined || w.status === filters.status) &&
        (filters.archived === null || w.archived === filters.archived) &&
        matchesText(filters, [w.batch_identifier, w.name, w.block_name]),
    ),
    page,
    async (some) => [...some],
  );
}

/** Items of one wave, or of all waves, newest wave first; within a wave in the order in which they were made. */
export async function listItems(services: EngineServices, filters: ItemFilters, page: PageRequest): Promise<Page<Item>> {
  const waves = filters.rollout !== undefined ? [filters.rollout] : await everyId((o) => services.engine.waveIds(o));
  const ids: string[] = [];
  for (const wave of waves) {
    const organizations = filters.organizations ?? (await services.engine.waveOrganizations(wave));
    const perOrganization = await Promise.all(organizations.map((org) => everyId((o) => services.engine.itemIds(wave, org, o))));
    ids.push(...perOrganization.flat().sort());
  }
  const load = async (some: readonly string[]): Promise<Item[]> => inOrder(some, await services.engine.items(some));
  const { block, k8s_cluster, status, source, workspaces } = filters;
  if ([block, k8s_cluster, status, source, workspaces].every((f) => f === undefined) && !hasText(filters)) return pageOf(ids, page, load);
  const items = (await inChunks(ids, load)).filter(
    (i) =>
      (block === undefined || i.block === block) &&
      (k8s_cluster === undefined || i.k8s_cluster === k8s_cluster) &&
      (status === undefined || i.status === status) &&
      (source === undefined || i.source === source) &&
      (workspaces === undefined || workspaces.includes(i.workspace)) &&
      matchesText(filters, [i.block_name, i.name]),
  );
  return pageOf(items, page, async (some) => [...some]);
}

/** Newest first; the runs of one item in the order of its attempts. */
export async function listRuns(services: EngineServices, filters: RunFilters, page: PageRequest): Promise<Page<ActionRun>> {
  const ids = await runIds(services, filters);
  const load = async (some: readonly string[]): Promise<ActionRun[]> => inOrder(some, await services.engine.runs(some));
  const { action, blocks, k8s_cluster, rollout, status, workspaces } = filters;
  if ([action, blocks, k8s_cluster, rollout, status, workspaces].every((f) => f === undefined) && !hasText(filters))
    return pageOf(ids, page, load);
  const runs = (await inChunks(ids, load)).filter(
    (r) =>
      (action === undefined || r.action === action) &&
      (blocks === undefined || blocks.includes(r.block)) &&
      (k8s_cluster === undefined || r.k8s_cluster === k8s_cluster) &&
      (rollout === undefined || r.rollout === rollout) &&
      (status === undefined || r.status === status) &&
      (workspaces === undefined || workspaces.includes(r.workspace)) &&
      matchesText(filters, [r.block_name, r.name]),
  );
  return pageOf(runs, page, async (some) => [...some]);
}

async function runIds(services: EngineServices, filters: RunFilters): Promise<string[]> {
  if (filters.item !== undefined) return [...((await services.engine.item(filters.item))?.attempts ?? [])];
  const organizations =
    filters.organizations ?? (await everyId((o) => services.objects.listIds('organization', { organization: null, path: [] }, o)));
  const lists = await Promise.all(organizations.map((org) => everyId((o) => services.engine.runIds(org, o))));
  return lists.flat().sort().reverse();
}

async function everyId(list: (options: { cursor: string | null; limit: number }) => Promise<KeyPage>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: KeyPage = await list({ cursor, limit: 1000 });
    ids.push(...page.ids);
    cursor = page.cursor;
  } while (cursor !== null);
  return ids;
}

const inOrder = <T>(ids: readonly string[], found: ReadonlyMap<string, T>): T[] => ids.flatMap((id) => found.get(id) ?? []);

async function inChunks<T>(ids: readonly string[], load: (ids: readonly string[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let i = 0; i < ids.length; i += 500) all.push(...(await load(ids.slice(i, i + 500))));
  return all;
}

/** The cursor is the place in the list: lists of waves, items and runs only grow at one end. */
async function pageOf<K, T>(all: readonly K[], page: PageRequest, load: (keys: readonly K[]) => Promise<T[]>): Promise<Page<T>> {
  const start = page.cursor === null ? (page.page - 1) * page.page_size : Number(page.cursor);
  if (!Number.isInteger(start) || start < 0) throw invalid('cursor', 'The cursor is not one of this list; start again without it.');
  if (page.cursor === null && start >= DEEPEST) throw invalid('page', `Pages reach ${DEEPEST} rows deep; follow "next" beyond that.`);
  const end = start + page.page_size;
  return { count: all.length, rows: await load(all.slice(start, end)), cursor: end < all.length ? String(end) : null };
}

const hasText = (f: CommonFilters): boolean => f.name_exact !== undefined || f.search !== undefined;

function matchesText(f: CommonFilters, texts: readonly string[]): boolean {
  const exact = f.name_exact === undefined || texts.includes(f.name_exact);
  const search = f.search?.toLowerCase();
  return exact && (search === undefined || texts.some((t) => t.toLowerCase().includes(search)));
}
