import { afterEach, expect, test } from 'vitest';
import { demandOf } from '../../lib/app/engine/demands.ts';
import { enqueueRunOf } from '../../lib/app/engine/enqueue-run.ts';
import { OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import type { Item } from '../../lib/domain/shared/rollout.ts';
import { localContext } from '../../local/lambda.ts';
import { type EmbeddedTable, startTable } from '../../local/table.ts';
import { Console } from '../support/console.ts';
import { at, minuteText } from '../support/cron-api.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
let admin: Console;
let table: EmbeddedTable | null = null;
afterEach(async () => {
  delete process.env['DYNAMODB_ENDPOINT'];
  await world.stop();
  await table?.stop();
  table = null;
});

/** Its table outlives the process. */
async function keptTable(): Promise<void> {
  table = await startTable({ file: null });
  process.env['DYNAMODB_ENDPOINT'] = String(table.client.endpoint);
}

async function fleetOf(n: number, now: string): Promise<void> {
  world = await World.start({ now: at(now) });
  await world.plainRules();
  await world.addClusters(names(n));
  await world.turns();
  admin = await Console.open(world);
}

/** A config that brings the operator to 2.0.0 at its times; other fields as given. */
async function schedule(cron_expression: string, fields: Record<string, unknown> = {}): Promise<string> {
  const operator = { block_name: OPERATOR_BLOCK, target_version: '2.0.0' };
  const made = await admin.post('block-rollout-configs/', {
    ...{ name: 'nightly', kind: 'trigger', trigger_type: 'schedule', cron_expression, ...operator },
    ...fields,
  });
  return made.id;
}

/** `backup` on every cluster. */
const BACKUP = { name: 'backup', block_name: 'ayedo/backup', action_name: 'backup', target_version: null, time_zone: 'Europe/Berlin' };

const opened = async (): Promise<string[]> => (await world.waves()).map((wave) => minuteText(wave.created_at));
const play = (minutes: number): Promise<void> => world.play(minutes * 60, 60);

async function call(rollout_config: string, scheduled_time: string): Promise<unknown> {
  return world.runtime.functions.trigger({ rollout_config, scheduled_time }, localContext('trigger', 'test'));
}

test('fires at its minute on the clock, in the zone of the config, and the preview named it', async () => {
  await fleetOf(3, '2026-06-01T19:50:00Z');
  const id = await schedule('0 22 * * MON', { time_zone: 'Europe/Berlin' });
  const { next_fires } = await admin.get(`block-rollout-configs/${id}/`);
  expect(next_fires[0]).toEqual({ at: '2026-06-01T20:00:00.000Z', local: '2026-06-01 22:00 +02:00 Europe/Berlin' });
  await play(15);
  expect(await opened()).toEqual(['2026-06-01T20:00Z']);
  const wave = await world.wave();
  expect([line(wave), wave.status, wave.source, wave.reason]).toEqual(['3 = 3+0+0+0+0', 'completed', 'scheduler', null]);
  expect(await admin.get(`block-rollout-configs/${id}/`)).toMatchObject({
    last_fire: { due_at: '2026-06-01T20:00:00.000Z', started_at: '2026-06-01T20:00:00.000Z', late: null },
  });
}, 60_000);

test('B32 boundary 1 over the spring gap on the clock: nothing at the hour that does not exist, next day at 02:30', async () => {
  await fleetOf(1, '2026-03-29T00:20:00Z');
  await schedule('30 2 * * *', BACKUP);
  await play(80);
  expect(await opened()).toEqual([]);
  await world.stop();
  await fleetOf(1, '2026-03-30T00:20:00Z');
  await schedule('30 2 * * *', BACKUP);
  await play(80);
  expect(await opened()).toEqual(['2026-03-30T00:30Z']);
}, 120_000);

test('B32 over the repeated hour on the clock: each wall-clock time once, at its first pass, during a wave that goes on', async () => {
  await fleetOf(2, '2026-10-24T23:50:00Z');
  for (const host of world.hosts.values()) host.behaviour.seconds = 100 * 60;
  await schedule('*/30 2 * * *', { ...BACKUP, action_timeout_seconds: 4 * 3600 });
  await play(150);
  expect(await opened()).toEqual(['2026-10-25T00:00Z']);
  const items = await world.items((await world.wave()).id);
  expect(items.map((item) => minuteText(item.created_at))).toEqual(['2026-10-25T00:00Z', '2026-10-25T00:00Z']);
  expect(line(await world.wave())).toBe('2 = 2+0+0+0+0');
}, 120_000);

test('B35 one event three times is one wave with its cap; the next event makes a new wave for what is out of date', async () => {
  await fleetOf(10, '2026-06-01T01:59:00Z');
  const id = await schedule('0 2,3 * * *', { max_concurrent_percent: 20 });
  for (const host of world.hosts.values()) host.behaviour.seconds = 60;
  await world.advance(60);
  const event = '2026-06-01T02:00:00Z';
  await world.advance(0.2);
  await Promise.all([call(id, event), call(id, event)]);
  for (let minute = 0; minute < 30; minute++) {
    await world.turns();
    expect((await world.wave()).counters.in_progress).toBeLessThanOrEqual(2);
    if (minute === 10) expect(await call(id, event)).toEqual({ fired: false, why: 'done' });
    await world.advance(60);
  }
  expect((await world.waves()).map(line)).toEqual(['10 = 10+0+0+0+0']);
  world.host('c4').installed = '1.0.0';
  await play(40);
  expect((await world.waves()).map((wave) => `${line(wave)} ${wave.status}`)).toEqual([
    '10 = 10+0+0+0+0 completed',
    '1 = 1+0+0+0+0 completed',
  ]);
  expect((await opened())[1]).toBe('2026-06-01T03:00Z');
}, 120_000);

test('B34 down for 110 minutes of an every-minute cron: one wave for the gap, late and said so, then normal running', async () => {
  await keptTable();
  await fleetOf(1, '2026-06-01T00:00:00Z');
  await admin.patch('system-config/', { AGENT_WARNING_AFTER_SECONDS: 86_000, AGENT_CRITICAL_AFTER_SECONDS: 86_400 });
  const id = await schedule('* * * * *', { target_version: '1.0.0', enqueue_reason: 'as agreed' });
  await play(3);
  expect(await opened()).toEqual([]);
  await admin.patch(`block-rollout-configs/${id}/`, { target_version: '2.0.0' });
  await world.restart({}, 110 * 60);
  admin = await Console.open(world);
  await play(6);
  const wave = await world.wave();
  const [item] = await world.items(wave.id);
  expect(await world.waves()).toHaveLength(1);
  expect([line(wave), wave.status]).toEqual(['1 = 1+0+0+0+0', 'completed']);
  expect(wave.reason).toBe('late: due 2026-06-01T01:52Z (earlier fires were missed)');
  expect(item?.reason).toBe('as agreed; late: due 2026-06-01T01:52Z (earlier fires were missed)');
  const { last_fire, next_fire_at } = await admin.get(`block-rollout-configs/${id}/`);
  expect([minuteText(last_fire.due_at), last_fire.late]).toEqual([minuteText(world.now()), null]);
  expect(Date.parse(next_fire_at)).toBeGreaterThan(world.now());
}, 120_000);

test('down over three fires that take every target: one wave, late', async () => {
  await keptTable();
  await fleetOf(2, '2026-11-27T18:30:00Z');
  await schedule('0 * * * *', { ...BACKUP, time_zone: 'UTC' });
  await world.restart({}, 4 * 3600);
  await play(3);
  expect((await world.waves()).map((wave) => [line(wave), wave.reason])).toEqual([
    ['2 = 2+0+0+0+0', 'late: due 2026-11-27T22:00Z (earlier fires were missed)'],
  ]);
}, 120_000);

test('a fire while the wave of the same config runs joins it: who is busy is left alone, who is done has the action once more', async () => {
  await fleetOf(3, '2026-06-01T01:59:00Z');
  world.host('c1').behaviour.seconds = 25 * 60;
  await schedule('*/10 2 * * *', { ...BACKUP, time_zone: 'UTC' });
  await play(15);
  expect((await world.waves()).map(line)).toEqual(['5 = 4+1+0+0+0']);
  const items = await world.items((await world.wave()).id);
  const of = (host: string): Item[] => items.filter((item) => item.k8s_cluster === world.host(host).id);
  expect(['c1', 'c2', 'c3'].map((host) => of(host).length)).toEqual([1, 2, 2]);
}, 120_000);

test('a fire with a newer target: what waits for the old one gives way, what runs finishes and gets the new one afterwards', async () => {
  await fleetOf(4, '2026-06-01T01:59:00Z');
  for (const host of world.hosts.values()) host.behaviour.seconds = 15 * 60;
  const id = await schedule('0,10 2 * * *', { max_concurrent_percent: 50 });
  await play(5);
  expect((await world.waves()).map(line)).toEqual(['4 = 0+2+2+0+0']);
  await admin.patch(`block-rollout-configs/${id}/`, { target_version: '3.0.0' });
  await play(3);
  expect((await world.waves()).map(line), 'only a fire looks').toEqual(['4 = 0+2+2+0+0']);
  for (const host of world.hosts.values()) host.behaviour.seconds = 60;
  await world.until(async () => (await world.waves()).length === 2 && (await world.waves()).every((wave) => wave.status === 'completed'));
  expect((await world.waves()).map((wave) => `${wave.target_version} ${line(wave)}`)).toEqual([
    '2.0.0 4 = 2+0+0+0+2',
    '3.0.0 4 = 4+0+0+0+0',
  ]);
}, 120_000);

test('SPEC §2.6 what failed is tried again by the next fire, though reconciliation would not', async () => {
  await fleetOf(1, '2026-06-01T01:59:00Z');
  world.host('c1').behaviour.exit = () => 1;
  await schedule('0,10 2 * * *');
  await play(6);
  expect((await world.waves()).map(line)).toEqual(['1 = 0+0+0+1+0']);
  world.host('c1').behaviour.exit = () => 0;
  await play(12);
  expect((await world.waves()).map((wave) => [line(wave), minuteText(wave.created_at)])).toEqual([
    ['1 = 0+0+0+1+0', '2026-06-01T02:00Z'],
    ['1 = 1+0+0+0+0', '2026-06-01T02:10Z'],
  ]);
}, 120_000);

test('SPEC §2.8 a schedule does not make its blocks its own: reconciliation still brings them up to date', async () => {
  await fleetOf(2, '2026-06-01T01:59:00Z');
  await schedule('0 2 * * *', { ...BACKUP, block_name: OPERATOR_BLOCK, time_zone: 'UTC' });
  await play(5);
  expect((await world.waves()).map(line)).toEqual(['2 = 2+0+0+0+0']);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await play(5);
  expect((await world.waves()).map(line)).toEqual(['2 = 2+0+0+0+0', '2 = 2+0+0+0+0']);
}, 120_000);

test('a run that a function owes which may start nothing itself is started by the trigger, once', async () => {
  await fleetOf(2, '2026-06-01T19:50:10Z');
  const { engine } = world.runtime.services;
  const demand = demandOf(engine, { requested_by: 'agent' });
  await engine.engine.putEnqueueRun(enqueueRunOf(demand), null);
  const ask = () => world.runtime.functions.trigger({ enqueue_run: demand.id }, localContext('trigger', 'test'));
  // The call may come twice, which is the same execution, and again after its work was done.
  expect([await ask(), await ask()]).toEqual([{ started: true }, { started: true }]);
  await world.play(2, 1);
  expect(await engine.engine.enqueueRun(demand.id)).toMatchObject({ status: 'done', generation: 0 });
  expect(await ask()).toEqual({ started: false });
  await expect(world.runtime.functions.trigger({ enqueue_run: '../../x' }, localContext('trigger', 'test'))).rejects.toThrow(/trigger/);
}, 60_000);
