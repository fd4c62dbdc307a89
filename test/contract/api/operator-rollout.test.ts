import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';

let api: Api;
const cluster: string[] = [];

beforeAll(async () => {
  api = await startApi();
  const organization = (await api.post('organizations/', { name: 'acme' })).body.id;
  const workspace = (await api.post('workspaces/', { name: 'prod', organization })).body.id;
  for (let n = 0; n < 4; n++) {
    cluster.push((await api.post('k8sclusters/', { name: `c${n}`, workspace })).body.id);
  }
});
afterAll(() => api.stop());

describe('filters', () => {
  it.each([
    ['block-rollouts/?status=open', 'status'],
    ['block-rollout-items/?status=done', 'status'],
    ['block-rollout-items/?rollout=x', 'rollout'],
    ['block-rollout-items/?source=robot', 'source'],
    ['action-runs/?status=skipped', 'status'],
    ['operator-rollout/?rollout_status=ok', 'rollout_status'],
    ['operator-rollout/?name=x', 'name'],
  ])('%s is refused by the filter', async (path, attr) => {
    const answer = await api.get(path);
    expect([answer.status, answer.body.errors.map((e: { attr: string }) => e.attr)]).toEqual([400, [attr]]);
  });
});

describe('the operator on the fleet', () => {
  it('has a row for each active cluster, with what holds it', async () => {
    await api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '1.2.3' } });
    await api.post(`operator-rollout/${cluster[1]}/pause/`, { reason: 'audit' });
    const { body } = await api.get('operator-rollout/?page_size=2');
    expect(body.summary).toMatchObject({ clusters: 4, desired_version: '1.2.3' });
    expect(body.summary.by_status).toMatchObject({ paused: 1, not_installed: 3 });
    expect(body.histogram).toEqual([{ version: null, count: 4 }]);
    expect([body.count, body.results.map((row: { cluster: string }) => row.cluster)]).toEqual([4, ['c0', 'c1']]);
    expect(body.results[1]).toMatchObject({ rollout_status: 'paused', state: null, last_seen: null, desired_version: '1.2.3' });
    expect(body.results[1].blockers.map((b: { code: string }) => b.code)).toEqual(['cluster_paused', 'agent_missing', 'contact_missing']);
    expect(
      (await api.get(body.next.replace('https://rollout.example', ''))).body.results.map((row: { cluster: string }) => row.cluster),
    ).toEqual(['c2', 'c3']);
    expect((await api.get('operator-rollout/?rollout_status=paused')).body.count).toBe(1);
    expect((await api.post(`operator-rollout/${cluster[1]}/resume/`)).body).toEqual({ cluster_id: cluster[1], paused: false });
  });

  it('follows an override, and is forced once', async () => {
    await api.send('PATCH', `k8sclusters/${cluster[2]}/`, { body: { rollout_override: { version_override: '2.0.0-rc.1' } } });
    const rows = (await api.get(`operator-rollout/?k8s_cluster=${cluster[2]}`)).body.results;
    expect(rows[0].desired_version).toBe('2.0.0-rc.1');
    const forced = await api.post(`operator-rollout/${cluster[2]}/force-update/`);
    expect([forced.status, forced.body.forced, forced.body.rendered_target_version]).toEqual([200, true, '2.0.0-rc.1']);
    expect((await api.post(`operator-rollout/${cluster[2]}/force-update/`)).body.id).toBe(forced.body.id);
    const row = (await api.get(`operator-rollout/?k8s_cluster=${cluster[2]}`)).body.results[0];
    expect(row).toMatchObject({ item: forced.body.id, rollout: forced.body.rollout, rollout_status: 'gated' });
  });
});
