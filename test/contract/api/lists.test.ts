import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';
import { done, makeFleet } from '../../support/api-fleet.ts';

let api: Api;
let fleet: Awaited<ReturnType<typeof makeFleet>>;
beforeEach(async () => {
  api = await startApi();
  fleet = await makeFleet(api);
});
afterEach(() => api.stop());

describe('lists of waves, items and runs', () => {
  test('read what a page shows, count exactly, and say no to a cursor of another list', async () => {
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '0.35.0' } }));
    const others = await Promise.all(
      Array.from({ length: 12 }, (_, n) => done(api.post('k8sclusters/', { name: `list-${n}`, workspace: fleet.workspace.id }))),
    );
    for (const { id } of others) await done(api.post(`operator-rollout/${id}/force-update/`));
    const all = await done(api.get('block-rollout-items/?page_size=200'));
    expect([all.count, all.results.length]).toEqual([12, 12]);
    const seen: string[] = [];
    for (let next: string | null = '/api/v1/block-rollout-items/?page_size=5'; next !== null; ) {
      const page = await done(api.get(next));
      expect(page.count).toBe(12);
      seen.push(...page.results.map((row: { id: string }) => row.id));
      next = page.next === null ? null : page.next.replace('https://rollout.example', '');
    }
    expect(seen).toEqual(all.results.map((row: { id: string }) => row.id));
    const one = await done(api.get(`block-rollout-items/?k8s_cluster=${others[3].id}`));
    expect([one.count, one.results[0].k8s_cluster]).toEqual([1, others[3].id]);
    const skipped = one.results[0];
    await done(api.post(`block-rollout-items/${skipped.id}/skip/`));
    for (const [query, count] of [
      ['?status=skipped', 1],
      ['?status=pending', 11],
      [`?rollout=${skipped.rollout}&status=skipped`, 1],
      [`?rollout=${skipped.rollout}&status=failed`, 0],
      [`?block=${skipped.block.id ?? skipped.block}`, 1],
      ['?source=manual', 12],
      ['?search=operator', 12],
    ] as const) {
      const found = await done(api.get(`block-rollout-items/${query}`));
      expect([query, found.count, found.results.length]).toEqual([query, count, count]);
    }
    const [wave] = (await done(api.get('block-rollouts/?page_size=1'))).results;
    const waves = await done(api.get('block-rollouts/?page_size=5&page=3'));
    expect([waves.count, waves.results.length, wave.id > waves.results[0].id]).toEqual([12, 2, true]);
    const { next } = await done(api.get('block-rollouts/?page_size=5'));
    const elsewhere = await api.get(`action-runs/${new URL(next).search}`);
    expect([elsewhere.status, elsewhere.body.errors[0].attr]).toEqual([400, 'cursor']);
  });

  test('a page of 20 items reads the same among 60 as among 230', async () => {
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '0.35.0' } }));
    const add = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) {
        const block = await done(
          api.post('blocks/', { name: `block-${n}`, workspace: fleet.workspace.id, k8s_cluster: fleet.cluster.id, version: '1' }),
        );
        await done(api.post('block-rollout-items/', { block: block.id, action_name: 'check' }));
      }
    };
    await add(0, 60);
    const [wave] = (await done(api.get('block-rollouts/?page_size=1'))).results;
    const spent = async (path: string): Promise<number> => {
      const before = api.units.total.read;
      await done(api.get(path));
      return api.units.total.read - before;
    };
    const second = async (): Promise<string> =>
      (await done(api.get('block-rollout-items/?page_size=20'))).next.replace('https://rollout.example', '');
    const few = await spent(await second());
    await add(60, 230);
    expect(await spent(await second())).toBeLessThanOrEqual(few);
    expect(await spent(`block-rollout-items/?rollout=${wave.id}&page_size=20`)).toBeLessThanOrEqual(few);
  }, 60_000);
});
