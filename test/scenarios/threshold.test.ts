import { afterEach, describe, expect, test } from 'vitest';
import { retryWave } from '../../lib/app/engine/retry-wave.ts';
import { resumeWave } from '../../lib/app/engine/wave-verbs.ts';
import { busy, end, runsOf, take } from '../support/console.ts';
import type { Host } from '../support/host.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

async function rollout(n: number, change: Parameters<World['config']>[0]): Promise<void> {
  world = await World.start();
  await world.plainRules();
  await world.config(change);
  await world.addClusters(names(n));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
}
const runs = async () => runsOf(world, await world.items((await world.wave()).id));

test('B07 the share is taken of the wave: 10 of 50 are 20 percent and go on, 11 block', async () => {
  await rollout(50, { max_concurrent_percent: 2, failure_threshold_percent: 20 });
  const { id } = await world.wave();
  for (let failure = 1; failure <= 11; failure++) {
    const [host, ...others] = await take(world, await world.items(id));
    expect(others).toEqual([]);
    if (host === undefined) throw new Error(`nobody works before failure ${failure}`);
    await end(host, 1);
    const wave = await world.wave();
    expect([failure, wave.status, wave.counters.failed]).toEqual([failure, failure <= 10 ? 'active' : 'blocked', failure]);
  }
  await world.play(180, 60);
  expect(line(await world.wave())).toBe('50 = 0+0+39+11+0');
  expect(await runs()).toHaveLength(11);
});

describe('B10 after a block', () => {
  async function blocked(): Promise<Host[]> {
    await rollout(10, { failure_threshold_percent: 50 });
    const hosts = await busy(world);
    expect(hosts).toHaveLength(10);
    for (const [i, host] of hosts.slice(0, 6).entries()) {
      await end(host, 1);
      expect((await world.wave()).status).toBe(i < 5 ? 'active' : 'blocked');
    }
    for (const host of hosts.slice(6)) await end(host, 0);
    const wave = await world.wave();
    expect([line(wave), wave.status]).toEqual(['10 = 4+0+0+6+0', 'blocked']);
    return hosts.slice(0, 6);
  }

  test('B10 (a) resuming without a retry starts nothing', async () => {
    await blocked();
    const { id } = await world.wave();
    await expect(resumeWave(world.services, id, 'test')).rejects.toThrow('6 of 10 items failed and 50 % are allowed');
    await world.play(120, 60);
    const wave = await world.wave();
    expect([line(wave), wave.status]).toEqual(['10 = 4+0+0+6+0', 'blocked']);
    expect(await runs()).toHaveLength(10);
  });

  test('B10 (b) a retry starts from a share of 0 with fresh deadlines, and six new failures are six', async () => {
    const failed = await blocked();
    const before = await runs();
    await world.play(600, 60);
    const answer = await retryWave(world.services, (await world.wave()).id, {}, 'test');
    expect([answer.retried, answer.conflicts, answer.still_to_retry_or_skip, answer.wave.status]).toEqual([6, [], 0, 'active']);
    expect(answer.wave.counters.failed).toBe(0);
    await world.settle();
    expect(line(await world.wave())).toBe('10 = 4+6+0+0+0');
    const known = new Set(before.map((run) => run.id));
    const fresh = (await runs()).filter((run) => !known.has(run.id));
    expect(fresh.map((run) => run.deadline - world.now())).toEqual(Array(6).fill(1_800_000));
    await busy(world);
    for (const host of failed) await end(host, 1);
    await world.play(60, 30);
    const wave = await world.wave();
    expect([line(wave), wave.status]).toEqual(['10 = 4+0+0+6+0', 'blocked']);
  });
});

test.each([
  [0, 1],
  [1, 2],
  [3, 4],
])('B11 max_retries %i gives %i attempts', async (max_retries, attempts) => {
  await rollout(1, { max_retries });
  world.host('c1').behaviour.exit = () => 1;
  await world.until(async () => (await world.wave()).status !== 'active', 3_600_000, 30);
  const wave = await world.wave();
  expect([line(wave), wave.status]).toEqual(['1 = 0+0+0+1+0', 'completed']);
  const [item] = await world.items(wave.id);
  expect([item?.status, item?.retry_count, item?.attempts.length]).toEqual(['failed', max_retries, attempts]);
  expect(world.host('c1').executed).toHaveLength(attempts);
});
