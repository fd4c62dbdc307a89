import { afterEach, expect, test } from 'vitest';
import { forceItem, skipItem } from '../../lib/app/engine/item-verbs.ts';
import { pauseCluster, resumeCluster } from '../../lib/app/engine/pause-cluster.ts';
import { cancelWave, pauseWave, resumeWave } from '../../lib/app/engine/wave-verbs.ts';
import { busy, dashboard, end, runsOf } from '../support/console.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

async function rollout(n: number, OPERATOR_ROLLOUT_PERCENTAGE: number): Promise<string> {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(names(n));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE });
  return (await world.wave()).id;
}
const counted = async () => line(await world.wave());

test('B20 a cancel starts nothing more and keeps what really happened', async () => {
  const id = await rollout(10, 30);
  for (const host of (await busy(world)).slice(0, 2)) await end(host, 0);
  const [a, b, c] = await busy(world);
  if (a === undefined || b === undefined || c === undefined) throw new Error('three work');
  expect(await counted()).toBe('10 = 2+3+5+0+0');
  const runs = (await runsOf(world, await world.items(id))).length;
  expect((await cancelWave(world.services, id, 'test')).status).toBe('cancelled');
  await end(a, 0);
  await end(b, 1);
  await c.turn();
  await world.play(120, 30);
  const wave = await world.wave();
  expect([wave.id, line(wave), wave.status]).toEqual([id, '10 = 3+0+0+1+6', 'cancelled']);
  const items = await world.items(id);
  expect([a, b, c].map((host) => world.itemOf(host.name, items).status)).toEqual(['completed', 'failed', 'skipped']);
  expect(await runsOf(world, items)).toHaveLength(runs);
  const row = (await dashboard(world)).rows.find((shown) => shown.cluster_id === a.id);
  expect(row?.installed_version).toBe('2.0.0');
});

test('B64 paused: whatever happens, nothing starts; resumed: exactly two', async () => {
  const id = await rollout(10, 20);
  const two = await busy(world);
  await pauseWave(world.services, id, 'looking at it', 'test');
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 50 });
  for (const host of two) await end(host, 0);
  for (let tick = 0; tick < 5; tick++) {
    await world.turns();
    await world.advance(60);
    await world.settings({ RESYNC_MINUTES: 5 + tick });
    const wave = await world.wave();
    expect([wave.id, line(wave), wave.status]).toEqual([id, '10 = 2+0+8+0+0', 'paused']);
  }
  const waiting = (await world.items(id)).find((item) => item.status === 'pending');
  await forceItem(world.services, waiting?.id ?? '', { override_freeze: false, reason: null }, 'test');
  await world.settle();
  expect(await counted()).toBe('10 = 2+0+8+0+0');
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 20 });
  await resumeWave(world.services, id, 'test');
  await world.settle();
  expect(await counted()).toBe('10 = 2+2+6+0+0');
});

test('B64 a paused cluster is passed over, and the wave waits until it is released', async () => {
  await rollout(10, 0);
  await pauseCluster(world.services, world.host('c4').id, { reason: null, until: null }, 'test');
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 20 });
  await world.until(async () => (await world.wave()).counters.done === 9, 3_600_000, 30);
  await world.play(600, 60);
  const wave = await world.wave();
  expect([line(wave), wave.status]).toEqual(['10 = 9+0+1+0+0', 'active']);
  await resumeCluster(world.services, world.host('c4').id, 'test');
  await world.until(async () => (await world.wave()).status === 'completed', 600_000, 10);
  expect(await counted()).toBe('10 = 10+0+0+0+0');
});

test('B64 a paused cluster may be skipped instead', async () => {
  const id = await rollout(3, 0);
  await pauseCluster(world.services, world.host('c2').id, { reason: null, until: null }, 'test');
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 100 });
  await world.until(async () => (await world.wave()).counters.done === 2, 600_000, 10);
  await skipItem(world.services, world.itemOf('c2', await world.items(id)).id, null, 'test');
  await world.settle();
  const wave = await world.wave();
  expect([line(wave), wave.status]).toEqual(['3 = 2+0+0+0+1', 'completed']);
});
