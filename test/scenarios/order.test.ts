import { afterEach, expect, test } from 'vitest';
import { busy, Console, end, take } from '../support/console.ts';
import { type ClusterSpec, line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

async function fleet(specs: readonly ClusterSpec[], in_maintenance: readonly string[] = []): Promise<void> {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(specs);
  await world.turns();
  if (in_maintenance.length > 0) await maintenance(in_maintenance);
}

async function maintenance(clusters: readonly string[]): Promise<void> {
  const hosts = clusters.map((name) => world.host(name));
  const instant = (minutes: number): string => new Date(world.now() + minutes * 60_000).toISOString();
  const admin = await Console.open(world);
  await admin.post('maintenances/', {
    name: 'planned work',
    k8s_clusters: hosts.map((host) => host.id),
    start: instant(0),
    end: instant(600),
  });
  await world.settle();
}

/** The order in which they are started, one at a time. */
async function startOrder(OPERATOR_ROLLOUT_PERCENTAGE: number): Promise<string[]> {
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE });
  const { id } = await world.wave();
  const order: string[] = [];
  for (;;) {
    const [host, ...others] = await take(world, await world.items(id));
    if (host === undefined) return order;
    expect(others).toEqual([]);
    order.push(host.name);
    await end(host, 0);
  }
}

const mixed = (['low', 'high', 'medium', 'medium', 'low', 'high', 'high', 'medium', 'low'] as const).map((criticality, i) => ({
  name: `${criticality}-${i + 1}`,
  criticality,
}));
const levels = (order: readonly string[]) => order.map((name) => name.split('-')[0]);

test('B62 (a) high before medium before low, and the same order on the same data', async () => {
  const orders: string[][] = [];
  for (let again = 0; again < 2; again++) {
    await fleet(mixed);
    orders.push(await startOrder(10));
    if (again === 0) await world.stop();
  }
  const [first, second] = orders;
  expect(levels(first ?? [])).toEqual(['high', 'high', 'high', 'medium', 'medium', 'medium', 'low', 'low', 'low']);
  expect(second).toEqual(first);
});

test('B62 (b) the one in maintenance is first', async () => {
  await fleet(mixed, ['high-7']);
  const order = await startOrder(10);
  expect(order[0]).toBe('high-7');
  expect(levels(order)).toEqual(['high', 'high', 'high', 'medium', 'medium', 'medium', 'low', 'low', 'low']);
});

test('B62 (c) without a criticality it counts as medium, never before high', async () => {
  await fleet([{ name: 'none-1' }, { name: 'low-2', criticality: 'low' }, { name: 'high-3', criticality: 'high' }]);
  expect(levels(await startOrder(10))).toEqual(['high', 'none', 'low']);
});

test('B25 silence counts more than maintenance: H1, H2, and M only after its report', async () => {
  await fleet([{ name: 'M' }, { name: 'H1' }, { name: 'H2' }]);
  const m = world.host('M');
  m.behaviour.silent = true;
  await maintenance(['M', 'H1']);
  await world.play(420, 60);
  expect(await startOrder(33)).toEqual(['H1', 'H2']);
  await world.play(120, 60);
  expect(line(await world.wave())).toBe('3 = 2+0+1+0+0');
  m.behaviour.silent = false;
  expect(await busy(world)).toEqual([]);
  const [again] = await busy(world);
  expect(again?.name).toBe('M');
  await end(m, 0);
  const wave = await world.wave();
  expect([line(wave), wave.status]).toEqual(['3 = 3+0+0+0+0', 'completed']);
});

test('forced goes first', async () => {
  await fleet([{ name: 'high-1', criticality: 'high' }, ...names(2)]);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 0 });
  const admin = await Console.open(world);
  await admin.post(`operator-rollout/${world.host('c2').id}/force-update/`);
  await world.settle();
  expect((await busy(world)).map((host) => host.name)).toEqual(['c2']);
});
