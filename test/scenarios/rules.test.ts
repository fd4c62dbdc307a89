import { afterEach, expect, test } from 'vitest';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { skipItem } from '../../lib/app/engine/item-verbs.ts';
import { pauseCluster, resumeCluster } from '../../lib/app/engine/pause-cluster.ts';
import { retryWave } from '../../lib/app/engine/retry-wave.ts';
import { busy, Console, dashboard, end } from '../support/console.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

/** The five columns add up, and equal a recount of the items, at every look. */
async function addsUp(): Promise<void> {
  for (const wave of await world.waves()) {
    const items = await world.items(wave.id);
    const count = (...statuses: string[]): number => items.filter((item) => statuses.includes(item.status)).length;
    const { total, done, in_progress, pending, failed, skipped } = wave.counters;
    expect(total).toBe(done + in_progress + pending + failed + skipped);
    expect([total, done, in_progress, pending, failed, skipped]).toEqual([
      items.length,
      count('completed'),
      count('in_progress'),
      count('pending', 'retrying'),
      count('failed'),
      count('skipped'),
    ]);
  }
}

async function atFourDone(): Promise<void> {
  world = await World.start();
  await world.plainRules();
  await world.config({ block_config_template: 'replicas: 1\n' });
  await world.addClusters(names(10));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 20 });
  for (let done = 0; done < 4; done += 2) for (const host of await busy(world)) await end(host, 0);
  expect((await world.wave()).counters.done).toBe(4);
  for (const host of world.hosts.values()) {
    host.behaviour.seconds = 5;
    for (const work of host.work.values()) host.work.set(work.run, { ...work, until: world.now() });
  }
}

test('B63 (a) a template edited in mid-wave: one revision in a wave, and all get the new one in the end', async () => {
  await atFourDone();
  const admin = await Console.open(world);
  const operator = `block-rollout-configs/${operatorConfigId(world.services.ids)}/`;
  await admin.patch(operator, { block_config_template: 'replicas: 3\n' });
  await world.settle();
  await world.until(async () => {
    await addsUp();
    return (
      (await world.waves()).every((wave) => wave.status === 'completed') && [...world.hosts.values()].every((host) => host.work.size === 0)
    );
  });
  await world.settings({ RESYNC_MINUTES: 30 });
  await world.until(async () => (await world.waves()).every((wave) => wave.status === 'completed'));
  const waves = await world.waves();
  for (const wave of waves) {
    const revisions = new Set((await world.items(wave.id)).map((item) => item.template_revision));
    expect([...revisions]).toEqual([wave.template_revision]);
  }
  const newest = waves.at(-1);
  const ends = newest === undefined ? [] : await world.items(newest.id);
  expect(ends.filter((item) => item.status === 'completed')).toHaveLength(10);
  expect(waves).toHaveLength(2);
});

test('B63 (b) clusters that enter the scope in mid-wave are counted', async () => {
  await atFourDone();
  await world.addClusters(names(2, 'new'));
  await world.settings({ RESYNC_MINUTES: 30 });
  const waves = await world.waves();
  expect(waves.map((wave) => wave.counters.total)).toEqual([12]);
  await world.until(async () => {
    await addsUp();
    return (await world.wave()).status === 'completed';
  });
  expect((await world.waves()).map(line)).toEqual(['12 = 12+0+0+0+0']);
});

test('B58 every state has its column, at every step of an item', async () => {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(names(12));
  await world.turns();
  const host = (n: number) => world.host(`c${n}`);
  for (const n of [7, 8, 9, 10]) await pauseCluster(world.services, host(n).id, { reason: null, until: null }, 'test');
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  const { id } = await world.wave();
  await busy(world);
  for (const n of [1, 2, 3]) await end(host(n), 0);
  await end(host(4), 1);
  await world.config({ max_retries: 1, retry_base_seconds: 600 });
  for (const n of [5, 6]) await end(host(n), 1);
  const items = await world.items(id);
  for (const n of [7, 8, 9]) await skipItem(world.services, world.itemOf(`c${n}`, items).id, null, 'test');
  await world.settle();
  const admin = await Console.open(world);
  /** The wave in the API, the recount of the items by the API's filters, and the clusters of the dashboard. */
  const look = async (): Promise<string> => {
    await addsUp();
    const wave = await admin.get(`block-rollouts/${id}/`);
    const many = async (status: string): Promise<number> => (await admin.get(`block-rollout-items/?rollout=${id}&status=${status}`)).count;
    const pending = (await many('pending')) + (await many('retrying'));
    expect(await many('completed')).toBe(wave.completed_items);
    expect([await many('in_progress'), pending]).toEqual([wave.in_progress_items, wave.pending_items]);
    expect([await many('failed'), await many('skipped')]).toEqual([wave.failed_items, wave.skipped_items_count]);
    const { by_status } = (await dashboard(world)).summary;
    expect([by_status['updating'], by_status['failed']]).toEqual([wave.in_progress_items, wave.failed_items]);
    return line(await world.wave());
  };
  expect(await look()).toBe('12 = 3+2+3+1+3');
  await resumeCluster(world.services, host(10).id, 'test');
  await world.settle();
  expect(await look()).toBe('12 = 3+3+2+1+3');
  await host(10).turn();
  await end(host(10), 1);
  expect(await look()).toBe('12 = 3+2+3+1+3');
  for (const n of [11, 12]) await end(host(n), 0);
  expect(await look()).toBe('12 = 5+0+3+1+3');
  await world.play(720, 60);
  expect(await look()).toBe('12 = 5+3+0+1+3');
  await end(host(10), 1);
  expect(await look()).toBe('12 = 5+2+0+2+3');
  for (const n of [5, 6]) await end(host(n), 0);
  expect([await look(), (await world.wave()).status]).toEqual(['12 = 7+0+0+2+3', 'completed']);
  await retryWave(world.services, id, { items: [world.itemOf('c10', await world.items(id)).id] }, 'test');
  await world.settle();
  expect(await look()).toBe('12 = 7+1+0+1+3');
  await host(10).turn();
  await end(host(10), 0);
  expect(await look()).toBe('12 = 8+0+0+1+3');
  await skipItem(world.services, world.itemOf('c4', await world.items(id)).id, null, 'test');
  await world.settle();
  expect(line(await world.wave())).toBe('12 = 8+0+0+0+4');
});
