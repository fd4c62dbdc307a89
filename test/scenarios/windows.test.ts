import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { triggerNow } from '../../lib/app/engine/trigger-now.ts';
import { itemView } from '../../lib/app/engine/views.ts';
import { continueImport } from '../../lib/app/import/advance.ts';
import { startImport } from '../../lib/app/import/start.ts';
import { OperatorBoard } from '../../lib/app/operator/operator-rollout.ts';
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
  const { rows, summary } = await new OperatorBoard(world.services).read({}, { page_size: 50, page: 1, cursor: null });
  expect([rows.map((row) => row.rollout_status), summary.stuck]).toEqual([['gated', 'gated', 'gated'], 0]);
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
