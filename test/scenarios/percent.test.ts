import { afterEach, describe, expect, test } from 'vitest';
import { busy, Console, end } from '../support/console.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

async function fleet(n: number): Promise<void> {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(names(n));
  await world.turns();
}

test('B01 one percent of ten clusters is one at a time, never none and never all', async () => {
  await fleet(10);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 1 });
  for (let tick = 0; tick < 40; tick++) {
    const wave = await world.wave();
    if (wave.status !== 'active') break;
    expect(wave.counters.in_progress).toBe(wave.counters.done < 10 ? 1 : 0);
    await world.play(60, 30);
  }
  const wave = await world.wave();
  expect(line(wave)).toBe('10 = 10+0+0+0+0');
  expect(wave.status).toBe('completed');
});

test('B02 zero holds, and 25 percent of eight starts exactly two', async () => {
  await fleet(8);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 0 });
  await world.play(300, 60);
  expect(line(await world.wave())).toBe('8 = 0+0+8+0+0');
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 25 });
  expect(line(await world.wave())).toBe('8 = 0+2+6+0+0');
});

test('B02 zero as the text "0" is the same zero', async () => {
  await fleet(8);
  const admin = await Console.open(world);
  await admin.patch('system-config/', { OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: '0' });
  await world.play(300, 60);
  expect(line(await world.wave())).toBe('8 = 0+0+8+0+0');
  await admin.patch('system-config/', { OPERATOR_ROLLOUT_PERCENTAGE: '25' });
  await world.settle();
  expect(line(await world.wave())).toBe('8 = 0+2+6+0+0');
});

test('B06 a raised percentage starts the difference, a lowered one stops only new starts', async () => {
  await fleet(20);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 10 });
  const first = await busy(world);
  expect(first).toHaveLength(2);
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 30 });
  const six = await busy(world);
  expect(line(await world.wave())).toBe('20 = 0+6+14+0+0');
  expect(first.map((host) => host.executed.length)).toEqual([1, 1]);
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 10 });
  expect(line(await world.wave())).toBe('20 = 0+6+14+0+0');
  for (const [i, host] of six.slice(0, 4).entries()) {
    await end(host, 0);
    await world.play(60, 60);
    expect(line(await world.wave())).toBe(`20 = ${i + 1}+${5 - i}+14+0+0`);
  }
  const [fifth] = six.slice(4);
  if (fifth === undefined) throw new Error('six were in progress');
  await end(fifth, 0);
  expect(line(await world.wave())).toBe('20 = 5+2+13+0+0');
});

/** Dispatched items, slots and free slots as the API shows them. */
async function shown(): Promise<[number, number, number]> {
  const { id } = await world.wave();
  const { in_progress_items, slots, free_slots } = await (await Console.open(world)).get(`block-rollouts/${id}/`);
  return [in_progress_items, slots, free_slots];
}

test('B03 7, 29, 55 and 57 percent of a hundred are exactly that', async () => {
  await fleet(100);
  await world.config({ max_concurrent_percent: 7 });
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  for (const percent of [7, 29, 55, 57]) {
    await world.config({ max_concurrent_percent: percent });
    await world.settle();
    expect(await shown()).toEqual([percent, percent, 0]);
  }
});

describe('B03, boundary row 8: the same number in the wave, in the API and at the agents', () => {
  test.each([
    [14, 50, 7],
    [28, 25, 7],
    [1, 10, 1],
    [50, 1, 1],
    [10, 30, 3],
    [100, 7, 7],
    [25, 10, 2],
  ])('%i percent of %i are %i', async (percent, n, slots) => {
    await fleet(n);
    await world.config({ max_concurrent_percent: percent });
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    expect(await shown()).toEqual([slots, slots, 0]);
    expect(await busy(world)).toHaveLength(slots);
  });
});

test('boundary row 9: what is no percentage is refused, and the old value stays', async () => {
  world = await World.start();
  const admin = await Console.open(world);
  await admin.patch('system-config/', { OPERATOR_ROLLOUT_PERCENTAGE: 20 });
  const [config] = (await admin.get('block-rollout-configs/?kind=config')).results;
  await admin.patch(`block-rollout-configs/${config.id}/`, { max_concurrent_percent: 20 });
  for (const value of [-5, 101, 12.5, '10%', 'abc', '', null]) {
    const setting = await admin.send('PATCH', 'system-config/', { OPERATOR_ROLLOUT_PERCENTAGE: value });
    expect([value, setting.status]).toEqual([value, 400]);
    const limit = await admin.send('PATCH', `block-rollout-configs/${config.id}/`, { max_concurrent_percent: value });
    expect([value, limit.status]).toEqual([value, 400]);
  }
  expect((await admin.get('system-config/')).OPERATOR_ROLLOUT_PERCENTAGE).toBe(20);
  expect((await admin.get(`block-rollout-configs/${config.id}/`)).max_concurrent_percent).toBe(20);
});
