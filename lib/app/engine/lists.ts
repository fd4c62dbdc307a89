import type { ActionRun, Counters, Item, ItemStatus, Wave } from '../../domain/shared/rollout.ts';
import { fixedLanes, type Lane, type Lanes, listedLane, mergedLane, type Page, type PageRequest, readPage } from '../paging.ts';
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

/** Newest first. Waves are few beside items; their counters are read with them. */
export function listWaves(services: EngineServices, filters: WaveFilters, page: PageRequest): Promise<Page<Wave>> {
  const { rollout_config, status, archived } = filters;
  return readPage<Wave>(
    {
      lanes: fixedLanes([services.lists.waves()]),
      load: (ids) => wavesOf(services, ids),
      passes: anyOf(rollout_config, status, archived ?? undefined, filters.name_exact, filters.search)
        ? (w) =>
            same(rollout_config, w.rollout_config) &&
            same(status, w.status) &&
            same(archived ?? undefined, w.archived) &&
            matchesText(filters, [w.batch_identifier, w.name, w.block_name])
        : null,
    },
    page,
  );
}

async function wavesOf(services: EngineServices, ids: readonly string[]): Promise<Wave[]> {
  const states = await Promise.all(ids.map((id) => services.engine.wave(id)));
  return states.flatMap((state) => (state === null ? [] : [state.wave]));
}

/** Items of one wave, or of all waves, newest wave first; within a wave by organization, in the order in which they were made. */
export async function listItems(services: EngineServices, filters: ItemFilters, page: PageRequest): Promise<Page<Item>> {
  const { block, rollout, k8s_cluster, status, source, workspaces } = filters;
  const organizations = await organizationsOf(services, filters, block === undefined ? [] : [block]);
  const plain = !anyOf(block, k8s_cluster, source, workspaces, filters.name_exact, filters.search);
  const count = plain && organizations === null ? countOf(services, rollout, status) : undefined;
  return readPage<Item>(
    {
      lanes: rollout === undefined ? itemLanes(services, organizations) : fixedLanes(await waveLanes(services, rollout, organizations)),
      load: async (ids) => inOrder(ids, await services.engine.items(ids)),
      passes:
        plain && status === undefined
          ? null
          : (i) =>
              same(block, i.block) &&
              same(k8s_cluster, i.k8s_cluster) &&
              same(status, i.status) &&
              same(source, i.source) &&
              (workspaces === undefined || workspaces.includes(i.workspace)) &&
              matchesText(filters, [i.block_name, i.name]),
      ...(count === undefined ? {} : { count }),
    },
    page,
  );
}

/** The waves have counted their items (SPEC §3.3); only retrying and pending are one number there. */
const COUNTED: { readonly [S in ItemStatus]?: keyof Counters } = {
  completed: 'done',
  in_progress: 'in_progress',
  failed: 'failed',
  skipped: 'skipped',
};

function countOf(services: EngineServices, rollout: string | undefined, status: string | undefined): (() => Promise<number>) | undefined {
  const counter = status === undefined ? 'total' : COUNTED[status as ItemStatus];
  if (counter === undefined) return undefined;
  const waves = services.lists.waves();
  return async () => {
    if (rollout !== undefined) return (await services.engine.wave(rollout))?.wave.counters[counter] ?? 0;
    let sum = 0;
    for await (const some of stretches(waves)) for (const wave of await wavesOf(services, some)) sum += wave.counters[counter];
    return sum;
  };
}

/** The organizations that a filter leaves, where it says so or follows from a cluster or a block; null = all. */
async function organizationsOf(
  { objects }: EngineServices,
  { organizations, k8s_cluster }: Pick<ItemFilters, 'organizations' | 'k8s_cluster'>,
  blocks: readonly string[],
): Promise<readonly string[] | null> {
  if (k8s_cluster === undefined && blocks.length === 0) return organizations ?? null;
  const clusters = k8s_cluster === undefined ? [] : [k8s_cluster];
  const [ofClusters, ofBlocks] = await Promise.all([objects.getMany('k8s_cluster', clusters), objects.getMany('block', blocks)]);
  const owners = new Set([...ofClusters.values(), ...ofBlocks.values()].map((object) => object.organization));
  return [...owners].filter((owner) => organizations === undefined || organizations.includes(owner));
}

async function waveLanes(services: EngineServices, wave: string, organizations: readonly string[] | null): Promise<Lane[]> {
  const all = organizations ?? (await services.engine.waveOrganizations(wave));
  return [...all].sort().map((organization) => services.lists.items(wave, organization));
}

/** Wave by wave: how many there are does not matter to a page. */
function itemLanes(services: EngineServices, organizations: readonly string[] | null): Lanes {
  const [only, ...others] = organizations ?? [];
  const waves = only !== undefined && others.length === 0 ? services.lists.wavesOf(only) : services.lists.waves();
  return async function* lanes(from) {
    if (organizations?.length === 0) return;
    const first = from === null ? null : /^W#([0-9a-f-]{36})#/.exec(from);
    if (first !== null) {
      const rest = await waveLanes(services, first[1] ?? '', organizations);
      yield* rest.slice(
        Math.max(
          0,
          rest.findIndex((lane) => lane.name === from),
        ),
      );
    }
    for await (const some of stretches(waves, first?.[1] ?? null)) {
      for (const wave of some) yield* await waveLanes(services, wave, organizations);
    }
  };
}

const WAVES_AT_ONCE = 50;

async function* stretches(waves: Lane, after: string | null = null): AsyncGenerator<readonly string[]> {
  for (let place = after; ; ) {
    const some = await waves.places(place, WAVES_AT_ONCE);
    if (some.length > 0) yield some;
    if (some.length < WAVES_AT_ONCE) return;
    place = some.at(-1) ?? null;
  }
}

/** Newest first; the runs of one item in the order of its attempts. */
export async function listRuns(services: EngineServices, filters: RunFilters, page: PageRequest): Promise<Page<ActionRun>> {
  const { action, blocks, k8s_cluster, rollout, status, workspaces } = filters;
  return readPage<ActionRun>(
    {
      lanes: fixedLanes([await runLane(services, filters)]),
      load: async (ids) => inOrder(ids, await services.engine.runs(ids)),
      passes: anyOf(action, blocks, k8s_cluster, rollout, status, workspaces, filters.name_exact, filters.search)
        ? (r) =>
            same(action, r.action) &&
            (blocks === undefined || blocks.includes(r.block)) &&
            same(k8s_cluster, r.k8s_cluster) &&
            same(rollout, r.rollout) &&
            same(status, r.status) &&
            (workspaces === undefined || workspaces.includes(r.workspace)) &&
            matchesText(filters, [r.block_name, r.name])
        : null,
    },
    page,
  );
}

async function runLane(services: EngineServices, filters: RunFilters): Promise<Lane> {
  const { item, rollout, blocks } = filters;
  if (item !== undefined) return listedLane((await services.engine.item(item))?.attempts ?? []);
  const narrowed = await organizationsOf(services, filters, blocks ?? []);
  const organizations =
    narrowed ?? (rollout === undefined ? await everyOrganization(services) : await services.engine.waveOrganizations(rollout));
  return mergedLane(organizations.map((organization) => services.lists.runs(organization)));
}

async function everyOrganization({ objects }: EngineServices): Promise<string[]> {
  const all: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { ids: readonly string[]; cursor: string | null } = await objects.listIds(
      'organization',
      { organization: null, path: [] },
      { cursor, limit: 1000 },
    );
    all.push(...page.ids);
    cursor = page.cursor;
  } while (cursor !== null);
  return all;
}

const inOrder = <T>(ids: readonly string[], found: ReadonlyMap<string, T>): T[] => ids.flatMap((id) => found.get(id) ?? []);
const anyOf = (...filters: readonly unknown[]): boolean => filters.some((filter) => filter !== undefined);
const same = <T>(wanted: T | undefined, is: T | null): boolean => wanted === undefined || wanted === is;

function matchesText(f: CommonFilters, texts: readonly string[]): boolean {
  const exact = f.name_exact === undefined || texts.includes(f.name_exact);
  const search = f.search?.toLowerCase();
  return exact && (search === undefined || texts.some((t) => t.toLowerCase().includes(search)));
}
