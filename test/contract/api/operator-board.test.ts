import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { derivedId } from '../../../lib/app/derived-ids.ts';
import { newCluster, newOrganization, newWorkspace } from '../../../lib/app/import/records.ts';
import { minuteTick } from '../../../lib/app/tick.ts';
import { type Api, startApi } from '../../support/api.ts';
import { done } from '../../support/api-fleet.ts';

const PER_WORKSPACE = 50;

/** Clusters straight into the table: what an import leaves behind. */
async function addClusters({ services: { resources, ids, clock } }: Api, count: number): Promise<string[]> {
  const { objects } = resources;
  const birth = (id: string, name: string) => ({ id, name, now: clock.now() });
  const organization = derivedId.organization(ids, 'acme');
  await objects.create('organization', newOrganization(birth(organization, 'acme')));
  const made: string[] = [];
  for (let n = 0; n < count; n += PER_WORKSPACE) {
    const name = `ws-${String(n / PER_WORKSPACE).padStart(4, '0')}`;
    const workspace = derivedId.workspace(ids, organization, name);
    await objects.create('workspace', newWorkspace(birth(workspace, name), organization));
    const clusters = Array.from({ length: Math.min(PER_WORKSPACE, count - n) }, (_, k) => `c-${String(n + k).padStart(5, '0')}`);
    const born = clusters.map((cluster) => birth(derivedId.cluster(ids, workspace, cluster), cluster));
    await Promise.all(born.map((one) => objects.create('k8s_cluster', newCluster(one, { organization, workspace, k8s_cluster: null }))));
    made.push(...born.map(({ id }) => id));
  }
  return made;
}

const tick = (api: Api): Promise<void> => minuteTick(api.services);
const rows = async (api: Api, query = ''): Promise<{ cluster: string; cluster_id: string; rollout_status: string }[]> =>
  (await done(api.get(`operator-rollout/${query}`))).results;

async function spent(api: Api, work: () => Promise<unknown>): Promise<number> {
  const before = api.units.total.read;
  await work();
  return api.units.total.read - before;
}

describe('what a page costs', () => {
  const fleets = new Map<number, Api>();
  beforeAll(async () => {
    for (const count of [100, 5_000]) {
      const api = await startApi();
      fleets.set(count, api);
      await addClusters(api, count);
      await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '1.2.3' } }));
      await tick(api);
      await rows(api);
    }
  }, 120_000);
  afterAll(() => Promise.all([...fleets.values()].map((api) => api.stop())));

  const fleet = (count: number): Api => {
    const api = fleets.get(count);
    if (api === undefined) throw new Error('no such fleet');
    return api;
  };

  it.each([
    ['the first page', '?page_size=50'],
    ['a later page', '?page_size=50&page=2'],
    ['a search', '?page_size=50&search=c-0'],
    ['a filter', '?page_size=50&rollout_status=not_installed'],
    ['one cluster', '?search=c-00042'],
  ])('%s reads the same at 100 and at 5,000 clusters, besides the packed board', async (_what, query) => {
    const [small, large] = [
      await spent(fleet(100), () => rows(fleet(100), query)),
      await spent(fleet(5_000), () => rows(fleet(5_000), query)),
    ];
    expect(large).toBe(small);
    expect(large).toBeLessThanOrEqual(250);
  });

  it('the packed board is read once per process and tick, in rows of at most 300 KB', async () => {
    const api = fleet(5_000);
    const again = await startBoardReader(api);
    expect(await spent(api, again)).toBeLessThanOrEqual(5 * 38);
  });

  it('counts exactly, in order, and pages without overlap', async () => {
    const api = fleet(5_000);
    const body = await done(api.get('operator-rollout/?page_size=200&page=25'));
    expect([body.count, body.results.length, body.next]).toEqual([5_000, 200, null]);
    expect(body.summary).toMatchObject({ clusters: 5_000, by_status: { not_installed: 5_000 }, by_state: { unknown: 5_000 } });
    expect(body.histogram).toEqual([{ version: null, count: 5_000 }]);
    expect(body.results.at(-1).cluster).toBe('c-04999');
    expect((await done(api.get('operator-rollout/?search=C-0010'))).count).toBe(10);
  });

  it('a tick in which nothing happened reads little more than the agents’ rows', async () => {
    const api = fleet(5_000);
    await tick(api);
    api.clock.forward(60_000);
    expect((await spent(api, () => tick(api))) / 5_000).toBeLessThanOrEqual(0.1);
  });
});

/** A second process: it has read nothing yet. */
async function startBoardReader(api: Api): Promise<() => Promise<unknown>> {
  const { DynamoBoardStore } = await import('../../../lib/adapters/dynamodb/board-store.ts');
  const store = new DynamoBoardStore(api.table, api.clock, api.services.ids);
  return async () => {
    const board = await store.read();
    expect(board?.entries).toHaveLength(5_000);
  };
}

describe('what a person has just done', () => {
  let api: Api;
  let clusters: string[];
  beforeAll(async () => {
    api = await startApi();
    clusters = await addClusters(api, 60);
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '1.2.3' } }));
    await tick(api);
    await rows(api);
  });
  afterAll(() => api.stop());

  const counted = async (query: string): Promise<number> => (await done(api.get(`operator-rollout/?${query}`))).count;

  it('shows at once in rows, filters and numbers: pause and resume', async () => {
    await done(api.post(`operator-rollout/${clusters[3]}/pause/`, { reason: 'audit' }));
    const body = await done(api.get('operator-rollout/?rollout_status=paused'));
    expect([body.count, body.results[0].cluster_id, body.summary.by_status.paused]).toEqual([1, clusters[3], 1]);
    expect(await counted('blocker=cluster_paused')).toBe(1);
    await done(api.post(`operator-rollout/${clusters[3]}/resume/`, {}));
    expect(await counted('rollout_status=paused')).toBe(0);
  });

  it('force-update', async () => {
    const item = await done(api.post(`operator-rollout/${clusters[4]}/force-update/`));
    const [row] = await rows(api, `?k8s_cluster=${clusters[4]}`);
    expect(row).toMatchObject({ item: item.id, rollout_status: 'gated' });
    expect((await rows(api, '?rollout_status=gated')).map(({ cluster_id }) => cluster_id)).toEqual([clusters[4]]);
    await done(api.post(`block-rollout-items/${item.id}/skip/`, {}));
    expect(await counted('rollout_status=gated')).toBe(0);
  });

  it('another version, of one cluster and of all', async () => {
    await done(api.send('PATCH', `k8sclusters/${clusters[5]}/`, { body: { rollout_override: { version_override: '9.9.9' } } }));
    expect(await rows(api, `?k8s_cluster=${clusters[5]}`)).toMatchObject([{ desired_version: '9.9.9' }]);
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '1.2.4' } }));
    const body = await done(api.get('operator-rollout/?page_size=2'));
    expect([body.summary.desired_version, body.results[0].desired_version]).toEqual(['1.2.4', '1.2.4']);
  });

  it('a cluster made, archived, and gone with its workspace', async () => {
    const [{ id: workspace }] = (await done(api.get('workspaces/?name=ws-0001'))).results;
    const { id } = await done(api.post('k8sclusters/', { name: 'new', workspace }));
    expect(await counted('search=new')).toBe(1);
    await done(api.post(`k8sclusters/${id}/archive/`, { archive_reason: 'mistake' }));
    expect(await counted('search=new')).toBe(0);
    await tick(api);
    expect(await counted(`workspaces=${workspace}`)).toBe(10);
    await done(api.post(`workspaces/${workspace}/archive/?force=true`, { archive_reason: 'left' }));
    await tick(api);
    expect(await counted(`workspaces=${workspace}`)).toBe(0);
    expect((await done(api.get('operator-rollout/'))).summary.clusters).toBe(50);
    await done(api.post(`workspaces/${workspace}/archive/`, {}));
    await tick(api);
    expect(await counted(`workspaces=${workspace}`)).toBe(10);
  });

  it('is forgotten by the next tick, but for what was done meanwhile', async () => {
    const { board } = api.services.engine;
    await board.touch(clusters[0] ?? '');
    const before = await board.touched(10);
    await board.touch(clusters[0] ?? '');
    await board.settle(before);
    expect((await board.touched(10)).map(({ cluster }) => cluster)).toEqual([clusters[0]]);
    await tick(api);
    expect(await board.touched(10)).toEqual([]);
  });
});

it('of many looks at once one is the next board, and no reader meets half of one', async () => {
  const api = await startApi();
  try {
    await addClusters(api, 120);
    await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? tick(api) : rows(api))));
    expect((await done(api.get('operator-rollout/'))).count).toBe(120);
  } finally {
    await api.stop();
  }
});
