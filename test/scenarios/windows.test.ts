import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { itemView } from '../../lib/app/engine/views.ts';
import { continueImport } from '../../lib/app/import/advance.ts';
import { startImport } from '../../lib/app/import/start.ts';
import { HOUR, MINUTE } from '../../lib/domain/shared/time.ts';
import { line, names, START, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

/** A window 02:00–04:00 UTC for the organization of all hosts, as a fleet file gives it. */
async function giveWindow(freezes = '', more = ''): Promise<void> {
  const file = `
apiVersion: block-rollout/v1
organizations:
  - name: acme
    maintenance_window: {time_zone: UTC, time_slots: [{start: "02:00", end: "04:00"}${more}]${freezes}}
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

const started = async (): Promise<string[]> => {
  const items = await world.items((await world.wave()).id);
  return items
    .flatMap((i) => (i.dispatched_at === null ? [] : [i.dispatched_at]))
    .sort((a, b) => a - b)
    .map((at) => new Date(at).toISOString().slice(5, 16));
};

const minutesAfter = (from: string, to: string): number => (Date.parse(`2026-${to}Z`) - Date.parse(`2026-${from}Z`)) / MINUTE;

test('B27 a window that closes while items wait: starts only inside, each at most a tick late, and the next opening goes on', async () => {
  await fleetOf(10, 45 * 60);
  await world.config({ action_timeout_seconds: 7200 });
  await giveWindow('', ', {start: "05:00", end: "06:00"}');
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 10 });
  await world.play(4 * 3600 + 20 * 60, 60);
  const starts = await started();
  expect(starts).toHaveLength(3);
  // Each start is at most a tick late, and so is what follows it.
  for (const [i, at] of ['03-01T02:00', '03-01T02:45', '03-01T03:30'].entries()) {
    expect((starts[i] ?? '') >= at, `${starts[i]} is not before ${at}`).toBe(true);
    expect(minutesAfter(at, starts[i] ?? '')).toBeLessThanOrEqual(i + 1);
  }
  expect(line(await world.wave())).toBe('10 = 3+0+7+0+0');
  expect((await world.wave()).status).toBe('active');
  await world.play(45 * 60, 120);
  expect((await started())[3]).toBe('03-01T05:00');
}, 120_000);

test('B28 and B30 outside the window nothing starts and nothing is used up, the reason names the opening; a manual item starts', async () => {
  await fleetOf(3, 60);
  await giveWindow();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(30 * 60, 60);
  expect(line(await world.wave())).toBe('3 = 0+0+3+0+0');
  const wave = await world.wave();
  const item = world.itemOf('c1', await world.items(wave.id));
  expect(item.tries).toBe(0);
  const view = await itemView(world.services, item.id);
  expect(view.blockers.filter((b) => b.code === 'window_closed')).toEqual([
    { code: 'window_closed', detail: '02:00 UTC', until: START + 2 * HOUR },
  ]);
  expect(view.earliest_start).toBe(START + 2 * HOUR);
  const reads = world.runtime.table.units.byOperation.get('plan')?.read ?? 0;
  await world.play(20 * 60, 60);
  expect((world.runtime.table.units.byOperation.get('plan')?.read ?? 0) - reads, 'waiting costs no plan').toBe(0);
  await world.config({ bypass_maintenance_window: true });
  await world.settle();
  expect(line(await world.wave())).toBe('3 = 0+3+0+0+0');
}, 60_000);

test('a freeze wins over an open window', async () => {
  await fleetOf(2, 60);
  await giveWindow(', freezes: [{from: "2026-03-01T02:00:00Z", to: "2026-03-01T03:00:00Z", reason: release}]');
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(2.5 * 3600, 120);
  const wave = await world.wave();
  expect(line(wave)).toBe('2 = 0+0+2+0+0');
  const { blockers } = await itemView(world.services, world.itemOf('c1', await world.items(wave.id)).id);
  expect(blockers.map((b) => b.code)).toEqual(['freeze']);
  await world.play(3600, 120);
  expect((await started())[0]).toBe('03-01T03:00');
}, 60_000);
