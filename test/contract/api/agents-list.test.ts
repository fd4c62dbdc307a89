import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';
import { done } from '../../support/api-fleet.ts';

let api: Api;
let workspace: string;
let other: string;
let key: string;
const clusters: string[] = [];

const beat = (body: object, with_ = key) => api.send('POST', 'agent/health/', { key: with_, body });
const operator = (n: number, uid = `uid-${n}`) => ({
  kind: 'operator',
  version: n === 0 ? '0.33.1' : '0.34.0',
  cluster: { uid, name: `fra-${n}` },
  apps: [{ name: 'polycrate-operator', installed_version: '0.34.0' }],
});
const reported = (body: { results: { reported_agent_id: string; k8s_cluster: string }[] }) => body.results.map((a) => a.k8s_cluster);
const list = async (query: string) => done(api.get(`agents/${query}`));

beforeAll(async () => {
  api = await startApi();
  const organization = (await api.post('organizations/', { name: 'acme' })).body.id;
  workspace = (await api.post('workspaces/', { name: 'prod', organization })).body.id;
  other = (await api.post('workspaces/', { name: 'other', organization })).body.id;
  for (let n = 0; n < 5; n++) clusters.push((await api.post('k8sclusters/', { name: `fra-${n}`, workspace })).body.id);
  key = (await api.post('agent-keys/', { name: 'prod', workspace })).body.key;
  const otherKey = (await api.post('agent-keys/', { name: 'other', workspace: other })).body.key;
  for (let n = 0; n < 4; n++) await done(beat(operator(n)));
  await done(beat({ reported_agent_id: 'bastion', status: 'degraded' }, otherKey));
});
afterAll(() => api.stop());

describe('agents/', () => {
  it('lists those that have registered, with the fields of the reference; a cluster without one is not an agent', async () => {
    const body = await list('');
    expect(body.count).toBe(5);
    const mine = body.results.find((a: { k8s_cluster: string }) => a.k8s_cluster === clusters[0]);
    expect(mine).toMatchObject({
      name: 'operator',
      kind: 'operator',
      workspace: { id: workspace, name: 'prod' },
      organization: { name: 'acme' },
      version: '0.33.1',
      reported_agent_id: 'operator',
      state: 'OK',
      is_active: true,
      last_seen: new Date(api.clock.now()).toISOString(),
      created_at: new Date(api.clock.now()).toISOString(),
      cluster_uid: 'uid-0',
      k8s_app: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: `/api/v1/agents/${mine.id}/`,
    });
    expect(await done(api.get(`agents/${mine.id}/`))).toEqual(mine);
    const bastion = body.results.find((a: { kind: string }) => a.kind === 'agent');
    expect(bastion).toMatchObject({ name: 'bastion', state: 'WARNING', k8s_cluster: null, cluster_uid: null, k8s_app: null });
  });

  it.each([
    ['?kind=operator', 4],
    ['?kind=agent', 1],
    ['?kind=agent,operator', 5],
    ['?kind=agent&kind=operator', 5],
    ['?version=0.33.1', 1],
    ['?search=BAST', 1],
    ['?name_exact=operator', 4],
    ['?online_status=true', 5],
    ['?online_status=false', 0],
    ['?archived=true', 0],
  ])('%s: %i', async (query, count) => {
    expect((await list(query)).count).toBe(count);
  });

  it('cuts by workspace and by cluster', async () => {
    expect((await list(`?workspaces=${other}`)).count).toBe(1);
    expect(reported(await list(`?k8s_cluster=${clusters[2]}`))).toEqual([clusters[2]]);
    expect((await list('?k8s_cluster=01a0c450-6c00-71d8-ba12-4b989cad1d3c')).count).toBe(0);
  });

  it('pages without overlap; a cursor of another list is refused', async () => {
    const first = await list('?kind=operator&page_size=3');
    const second = await done(api.get(new URL(first.next).pathname + new URL(first.next).search));
    expect([first.count, second.count, second.next]).toEqual([4, 4, null]);
    expect(new Set([...reported(first), ...reported(second)])).toEqual(new Set(clusters.slice(0, 4)));
    expect(reported(await list('?kind=operator&page_size=3&page=2'))).toEqual(reported(second));
    for (const cursor of ['x', Buffer.from('["agent@other/","a",1,1]').toString('base64url'), Buffer.from('{}').toString('base64url')]) {
      const answer = await api.get(`agents/?cursor=${cursor}`);
      expect([answer.status, answer.body.errors[0].attr]).toEqual([400, 'cursor']);
    }
  });

  it('refuses what is no kind', async () => {
    const answer = await api.get('agents/?kind=robot');
    expect([answer.status, answer.body.errors[0].attr]).toEqual([400, 'kind.0']);
  });

  it('tells who is silent, and since when', async () => {
    api.clock.forward(200_000);
    await beat(operator(1));
    expect(reported(await list('?online_status=true'))).toEqual([clusters[1]]);
    const silent = (await list(`?k8s_cluster=${clusters[0]}`)).results[0];
    expect(silent).toMatchObject({ state: 'WARNING', is_active: false, last_seen: new Date(api.clock.now() - 200_000).toISOString() });
  });
});

describe('agents/{id}/rebind/', () => {
  it('lets a rebuilt cluster report again: its operator and the other agents that are bound to it', async () => {
    const second = { kind: 'agent', reported_agent_id: 'probe', cluster: { uid: 'uid-3', name: 'fra-3' } };
    await done(beat(second));
    const refused = await beat(operator(3, 'rebuilt'));
    expect(refused.status).toBe(409);
    const path = /\/api\/v1\/agents\/[0-9a-f-]+\/rebind\//.exec(refused.body.errors[0].detail)?.[0] ?? '';
    expect(await done(api.post(path, {}))).toMatchObject({ k8s_cluster: clusters[3], cluster_uid: null });
    expect((await api.post(path, {})).status).toBe(200);
    expect((await beat(operator(3, 'rebuilt'))).status).toBe(201);
    expect((await beat(operator(3))).status).toBe(409);
    expect((await beat({ ...second, cluster: { uid: 'rebuilt', name: 'fra-3' } })).status).toBe(201);
    expect((await list(`?k8s_cluster=${clusters[3]}`)).results.map((a: { cluster_uid: string }) => a.cluster_uid)).toEqual([
      'rebuilt',
      'rebuilt',
    ]);
  });

  it('is for agents that have registered, and writes who did it', async () => {
    const row = (await api.get('operator-rollout/')).body.results.find((r: { cluster_id: string }) => r.cluster_id === clusters[4]);
    expect(row.last_seen).toBeNull();
    const unregistered = api.services.ids.child(clusters[4] ?? '', 'agent', 'operator');
    expect((await api.post(`agents/${unregistered}/rebind/`, {})).status).toBe(404);
    expect((await api.get(`agents/${unregistered}/`)).status).toBe(404);
    const { objects } = api.services.resources;
    const organization = (await api.get('organizations/')).body.results[0].id;
    const { ids } = await objects.listIds('audit_event', { organization, path: [] }, { limit: 1000 });
    const events = [...(await objects.getMany('audit_event', ids)).values()].filter((event) => event.action === 'agent.rebind');
    expect(events.map((event) => [event.object_type, event.before])).toContainEqual(['agent', { cluster_uid: 'uid-3' }]);
  });
});
