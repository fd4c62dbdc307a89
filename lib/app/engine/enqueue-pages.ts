import type {
  EnqueuePage,
  FinishEnqueueInput,
  FinishEnqueueOutput,
  PlanPagesInput,
  PlanPagesOutput,
} from '../../contracts/workflow/enqueue.ts';
import { MAX_PAGES } from '../../contracts/workflow/enqueue.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { KeyPage, Listing } from '../ports.ts';
import { activeConfigs } from './config-list.ts';
import { ENQUEUE_PATIENCE, type EnqueueRun } from './enqueue-run.ts';
import type { EngineServices } from './services.ts';
import { driveWave, wakeWavesOf } from './wake.ts';

/** Targets of one page. */
export const PAGE = 100;

/** A stretch of targets, as the page's `from` carries it: of a listing after a cursor, or of the run's own list from an offset. */
export type Stretch =
  | { readonly type: 'k8s_cluster' | 'workspace'; readonly where: Listing; readonly cursor: string | null }
  | { readonly type: 'named'; readonly kind: 'k8s_cluster' | 'workspace'; readonly offset: number };

export const encodeStretch = (stretch: Stretch): string => JSON.stringify(stretch);
export const decodeStretch = (text: string): Stretch => JSON.parse(text) as Stretch;

/** Configs that an enqueue run speaks for: its own, or every active reconciliation config (SPEC §2.9). */
export async function configsOf(services: EngineServices, run: EnqueueRun): Promise<BlockRolloutConfig[]> {
  if (run.rollout_config === null) return (await activeConfigs(services)).filter((c) => c.trigger_type === 'reconciliation');
  const config = await services.objects.get('block_rollout_config', run.rollout_config, true);
  return config === null || config.archived || !config.active || config.kind !== 'trigger' ? [] : [config];
}

/** Cuts the targets of a run into pages. A finished run, or one that is no more, has none. */
export async function planPages(services: EngineServices, input: PlanPagesInput): Promise<PlanPagesOutput> {
  const run = await services.engine.enqueueRun(input.enqueue_run);
  if (run === null || run.status === 'done') return { pages: [], max_concurrency: 1 };
  const configs = await configsOf(services, run);
  const pages: EnqueuePage[] = [];
  if (configs.length > 0) for await (const stretch of stretchesOf(services, run, configs)) pages.push({ page: pages.length, ...stretch });
  return { pages: pages.slice(run.page_offset, run.page_offset + MAX_PAGES), max_concurrency: 2 };
}

type PagePart = Omit<EnqueuePage, 'page'>;

export async function* stretchesOf(
  services: EngineServices,
  run: EnqueueRun,
  configs: readonly BlockRolloutConfig[],
): AsyncGenerator<PagePart> {
  const kinds = [...new Set(configs.map((c) => c.target_kind))];
  for (const kind of kinds) {
    const named = kind === 'workspace' ? run.workspaces : run.clusters;
    for (let offset = 0; offset < named.length; offset += PAGE)
      yield { organization: null, from: encodeStretch({ type: 'named', kind, offset }), to: null };
  }
  for (const where of await placesOf(services, run)) {
    for (const type of kinds) if (type !== 'workspace' || where.path.length === 0) yield* listingPages(services, type, where);
  }
}

/** The listings to walk: named organizations and workspaces, or all organizations when nothing is named. */
async function placesOf(services: EngineServices, run: EnqueueRun): Promise<Listing[]> {
  const workspaces = await services.objects.getMany('workspace', run.workspaces);
  const named: Listing[] = [
    ...run.organizations.map((organization) => ({ organization, path: [] })),
    ...[...workspaces.values()].map((w) => ({ organization: w.organization, path: [w.id] })),
  ];
  if (named.length > 0 || run.clusters.length > 0) return named;
  return (await allIds(services, 'organization', { organization: null, path: [] })).map((organization) => ({ organization, path: [] }));
}

async function allIds(services: EngineServices, type: 'organization', where: Listing): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds(type, where, { cursor, limit: 1000 });
    ids.push(...page.ids);
    cursor = page.cursor;
  } while (cursor !== null);
  return ids;
}

async function* listingPages(services: EngineServices, type: 'k8s_cluster' | 'workspace', where: Listing): AsyncGenerator<PagePart> {
  let cursor: string | null = null;
  do {
    const page: KeyPage = await services.objects.listIds(type, where, { cursor, limit: PAGE });
    if (page.ids.length > 0)
      yield { organization: where.organization, from: encodeStretch({ type, where, cursor }), to: page.ids.at(-1) ?? null };
    cursor = page.cursor;
  } while (cursor !== null);
}

/** The run is over: its waves may start. Another round when the fleet has more pages than one execution carries. */
export async function finishEnqueue(services: EngineServices, input: FinishEnqueueInput): Promise<FinishEnqueueOutput> {
  const run = await services.engine.enqueueRun(input.enqueue_run);
  if (run === null || run.status === 'done') return { next: 'done' };
  if (run.looked_at >= (run.page_offset + MAX_PAGES) * PAGE) {
    await services.engine.putEnqueueRun(
      { ...run, page_offset: run.page_offset + MAX_PAGES, look_again_at: services.clock.now() + ENQUEUE_PATIENCE },
      run,
    );
    return { next: 'more' };
  }
  await releaseWaves(services, run);
  // The change that raised the demand may have moved limits, too, and whoever made it may have died before saying so.
  for (const config of [null, ...(await configsOf(services, run)).map((c) => c.id)]) await wakeWavesOf(services, config);
  const now = services.clock.now();
  const finished = await services.engine.putEnqueueRun({ ...run, status: 'done', finished_at: now }, run);
  if (!finished) return finishEnqueue(services, input);
  services.log.info('enqueue_finished', { enqueue_run: run.id, looked_at: run.looked_at, enqueued: run.enqueued });
  return { next: 'done' };
}

async function releaseWaves(services: EngineServices, run: EnqueueRun): Promise<void> {
  for (const wave of run.waves) {
    await services.engine.commit({ waves: [{ id: wave, enqueue_run: { remove: run.id } }] });
    await driveWave(services, wave);
  }
}
