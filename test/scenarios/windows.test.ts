import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { operatorConfigId, systemConfigId } from '../../lib/app/engine/configs.ts';
import { triggerNow } from '../../lib/app/engine/trigger-now.ts';
import { itemView } from '../../lib/app/engine/views.ts';
import { continueImport } from '../../lib/app/import/advance.ts';
import { startImport } from '../../lib/app/import/start.ts';
import { operatorRollout } from '../../lib/app/operator/operator-rollout.ts';
import { HOUR } from '../../lib/domain/shared/time.ts';
import { fleetAt, rollOut, startsByCluster, to } from '../support/windows.ts';
import { line, names, START, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

/** A window 02:00–04:00 UTC for the organization of all hosts, as a fleet file gives it. */
async function giveWindow(freezes = ''): Promise<void> {
  const file = `
apiVersion: block-rollout/v1
organizations:
  - name: acme
    maintenance_window: {time_zone: UTC, time_slots: [{start: "02:00", end: "04:00"}]${freezes}}
`;
  const { imports } = world.runtime.services;
  const { id } = await startImport(imports, { body: gzipSync(file), actor: 'test', prune: false });
  await continueImport(imports, id);
  await world.settle();
}

async function fleetOf(n: number, seconds: number): Promise<void> {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(names(n));
  for (const host of world.hosts.values()) host.behaviour.seconds = seconds;
  await world.turns();
}

test('B27 a window that closes while items wait: starts only inside, what runs finishes, and the next opening goes on', async () => {
  world = await fleetAt('2026-03-01T00:00:00Z', names(10));
  for (const host of world.hosts.values()) host.behaviour.seconds = 45 * 60;
  await world.config({ action_timeout_seconds: 7200 }, systemConfigId(world.services.ids));
  await giveWindow();
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 10 });
  await rollOut(world);
  const starts = async () =>
    Object.values(await startsByCluster(world))
      .flat()
      .sort();
  for (const at of ['02:00', '02:45', '03:30', '04:15']) {
    await to(world, `2026-03-01T${at}:00Z`);
    // The first round ends one, the second takes up the next.
    await world.turns();
    await world.turns();
  }
  expect(await starts()).toEqual(['03-01T02:00', '03-01T02:45', '03-01T03:30']);
  await to(world, '2026-03-02T01:59:59Z');
  expect(line(await world.wave())).toBe('10 = 3+0+7+0+0');
  expect((await world.wave()).status).toBe('active');
  const items = await world.items((await world.wave()).id);
  expect(items.filter((i) => i.status === 'pending').every((i) => i.tries === 0)).toBe(true);
  await to(world, '2026-03-02T02:00:00Z');
  expect((await starts()).at(-1)).toBe('03-02T02:00');
});

test('B28 outside the window: nothing, then one by the bypass, then none without it, then the rest by hand', async () => {
  await fleetOf(2, 600);
  await giveWindow();
  await world.config({ max_concurrent_percent: 50 });
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(180, 60);
  expect(line(await world.wave()), '(a) 3 ticks without the bypass').toBe('2 = 0+0+2+0+0');
  await world.config({ bypass_maintenance_window: true });
  await world.settle();
  expect(line(await world.wave()), '(b) the bypass: as many as there are places').toBe('2 = 0+1+1+0+0');
  await world.config({ bypass_maintenance_window: false });
  await world.play(900, 60);
  expect(line(await world.wave()), '(c) what runs finishes, the other one waits').toBe('2 = 1+0+1+0+0');
  const items = await world.items((await world.wave()).id);
  expect(items.filter((i) => i.status === 'pending')).toEqual([expect.objectContaining({ tries: 0, attempts: [] })]);
  await triggerNow(world.services, operatorConfigId(world.services.ids), {}, 'test');
  await world.settle();
  const [first] = await world.waves();
  expect(first === undefined ? '' : line(first), '(d) by hand').toBe('2 = 1+1+0+0+0');
}, 60_000);

test('B30 waiting for the window is not being stuck: no try, no time-out, the reason names the opening', async () => {
  await fleetOf(3, 60);
  await giveWindow();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(40 * 60, 120);
  const wave = await world.wave();
  expect(line(wave)).toBe('3 = 0+0+3+0+0');
  const item = world.itemOf('c1', await world.items(wave.id));
  expect(item).toMatchObject({ tries: 0, attempts: [], parked_until: null });
  const view = await itemView(world.services, item.id);
  expect(view.blockers).toEqual([{ code: 'window_closed', detail: '02:00 UTC', until: START + 2 * HOUR }]);
  expect(view.earliest_start).toBe(START + 2 * HOUR);
  const { rows, summary } = await operatorRollout(world.services, {}, { page_size: 50, page: 1, cursor: null });
  expect([rows.map((row) => row.rollout_status), summary.stuck]).toEqual([['gated', 'gated', 'gated'], 0]);
}, 60_000);

test('a freeze wins over an open window, as a fleet file gives both', async () => {
  world = await fleetAt('2026-03-01T00:00:00Z', names(2));
  await giveWindow(', freezes: [{from: "2026-03-01T02:00:00Z", to: "2026-03-01T03:00:00Z", reason: release}]');
  await rollOut(world);
  await to(world, '2026-03-01T02:30:00Z');
  const wave = await world.wave();
  expect(line(wave)).toBe('2 = 0+0+2+0+0');
  const { blockers } = await itemView(world.services, world.itemOf('c1', await world.items(wave.id)).id);
  expect(blockers).toEqual([{ code: 'freeze', detail: '03:00 UTC; release', until: START + 3 * HOUR }]);
  await to(world, '2026-03-01T03:00:00Z');
  expect(await startsByCluster(world)).toEqual({ c1: ['03-01T03:00'], c2: ['03-01T03:00'] });
});
