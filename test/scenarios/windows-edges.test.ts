import { afterEach, describe, expect, test } from 'vitest';
import { operatorConfigId, systemConfigId } from '../../lib/app/engine/configs.ts';
import { dispatchBatch } from '../../lib/app/engine/dispatch-batch.ts';
import { planWave } from '../../lib/app/engine/plan-wave.ts';
import { triggerNow } from '../../lib/app/engine/trigger-now.ts';
import { itemView } from '../../lib/app/engine/views.ts';
import { createMaintenance } from '../../lib/app/resources/maintenances.ts';
import { HOUR, MINUTE } from '../../lib/domain/shared/time.ts';
import { finish, fleetAt, rollOut, startsByCluster, to, windowsOf } from '../support/windows.ts';
import { line, names, type World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

const slots = (...times: readonly [string, string][]) => ({
  time_zone: 'UTC',
  time_slots: times.map(([start, end]) => ({ start, end })),
});
const itemOf = async (cluster: string) => world.itemOf(cluster, await world.items((await world.wave()).id));
const holds = async (cluster: string) => (await itemView(world.services, (await itemOf(cluster)).id)).blockers.map(({ code }) => code);

describe('starts at the edges of a window', () => {
  test('B27 what was decided at 03:59:59 and is carried out at 04:00:01 does not start', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', names(1));
    const windows = windowsOf(world);
    await windows.ofOrganization('c1', await windows.make('late', slots(['03:59', '04:00'])));
    await world.settings({ ROLLOUTS_PAUSED: { reason: 'set up' } });
    await rollOut(world);
    await to(world, '2026-03-02T03:59:59Z');
    const wave = await world.wave();
    await world.services.settings.write(
      await world.services.settings.read(),
      { ...(await world.services.settings.read()), ROLLOUTS_PAUSED: null },
      [],
    );
    const mine = { block_rollout: wave.id, generation: 99, execution: 'by-hand', turn: 0, events: 0, definition: '' };
    const { next, batches } = await planWave(world.services, mine);
    expect([next, batches[0]?.orders.length]).toEqual(['dispatch', 1]);
    await to(world, '2026-03-02T04:00:01Z');
    const [batch] = batches;
    if (batch === undefined) throw new Error('nothing was ordered');
    const late = await dispatchBatch(world.services, { ...mine, batch });
    expect(late).toEqual({ dispatched: 0, refused: 1 });
    expect(await itemOf('c1')).toMatchObject({ status: 'pending', tries: 0, attempts: [] });
  });

  test('a window of one minute, shorter than the tick, is not missed', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', names(3));
    const windows = windowsOf(world);
    await windows.ofOrganization('c1', await windows.make('blink', slots(['02:17', '02:18'])));
    await rollOut(world);
    await to(world, '2026-03-02T02:17:00Z');
    await finish(world);
    await to(world, '2026-03-02T05:00:00Z');
    expect(await startsByCluster(world)).toEqual({ c1: ['03-02T02:17'], c2: ['03-02T02:17'], c3: ['03-02T02:17'] });
  });

  test('a start that no agent took before the window closed is taken back and used no try', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', names(1), MINUTE);
    const windows = windowsOf(world);
    await windows.ofOrganization('c1', await windows.make('short', slots(['00:30', '00:32'], ['01:00', '02:00'])));
    await rollOut(world);
    await to(world, '2026-03-02T00:31:00Z');
    expect(await itemOf('c1')).toMatchObject({ status: 'in_progress', tries: 1 });
    await to(world, '2026-03-02T00:33:00Z');
    expect(await itemOf('c1')).toMatchObject({ status: 'pending', tries: 0 });
    await to(world, '2026-03-02T01:00:30Z');
    await world.turns();
    await world.advance(5);
    await world.turns();
    expect((await startsByCluster(world))['c1']).toEqual(['03-02T00:30', '03-02T01:00']);
    expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  });

  test('a failed attempt waits for the next opening, in its lane, and waiting uses no try', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', names(1));
    const host = world.host('c1');
    Object.assign(host.behaviour, { seconds: 60 * 114, exit: (attempt: number) => (attempt === 1 ? 1 : 0) });
    const windows = windowsOf(world);
    await windows.ofOrganization('c1', await windows.make('nights', slots(['02:00', '04:00'])));
    await world.config({ max_retries: 1, retry_base_seconds: 600, action_timeout_seconds: 4 * 3600 }, systemConfigId(world.services.ids));
    await rollOut(world);
    await to(world, '2026-03-02T02:00:00Z');
    await world.turns();
    await to(world, '2026-03-02T03:55:00Z');
    await world.turns();
    const failed = await itemOf('c1');
    expect(failed).toMatchObject({ status: 'retrying', tries: 1 });
    await to(world, '2026-03-02T20:00:00Z');
    expect(await holds('c1')).toEqual(['window_closed']);
    expect(await itemOf('c1')).toMatchObject({ status: 'retrying', tries: 1, parked_until: null });
    await to(world, '2026-03-03T02:00:00Z');
    expect(await itemOf('c1')).toMatchObject({ status: 'in_progress', tries: 2 });
    expect((await startsByCluster(world))['c1']).toEqual(['03-02T02:00', '03-03T02:00']);
  });
});

describe('clock changes in a wave', () => {
  test('in spring the hour that does not exist shortens the window, and a slot inside it does not open', async () => {
    world = await fleetAt('2026-03-28T22:00:00Z', [
      { name: 'across', workspace: 'across' },
      { name: 'inside', workspace: 'inside' },
    ]);
    const windows = windowsOf(world);
    const berlin = (start: string, end: string) => ({ time_zone: 'Europe/Berlin', time_slots: [{ start, end }] });
    await windows.ofWorkspace('across', await windows.make('across', berlin('01:30', '03:30')));
    await windows.ofWorkspace('inside', await windows.make('inside', berlin('02:15', '02:45')));
    await rollOut(world);
    expect((await itemView(world.services, (await itemOf('inside')).id)).earliest_start).toBe(Date.parse('2026-03-30T00:15:00Z'));
    await to(world, '2026-03-29T00:30:00Z');
    await finish(world);
    await to(world, '2026-03-30T00:15:00Z');
    expect(await startsByCluster(world)).toEqual({ across: ['03-29T00:30'], inside: ['03-30T00:15'] });
  });

  test('in autumn a slot in the hour that comes twice opens twice', async () => {
    world = await fleetAt('2026-10-24T20:00:00Z', names(2));
    for (const host of world.hosts.values()) host.behaviour.seconds = 0;
    const windows = windowsOf(world);
    const twice = { time_zone: 'Europe/Berlin', time_slots: [{ start: '02:00', end: '02:30' }] };
    await windows.ofOrganization('c1', await windows.make('twice', twice));
    await world.config({ max_concurrent_percent: 1 }, operatorConfigId(world.services.ids));
    await rollOut(world);
    await to(world, '2026-10-25T00:29:59Z');
    expect(Object.values(await startsByCluster(world)).flat()).toEqual(['10-25T00:00']);
    await world.advance(60);
    await finish(world);
    await to(world, '2026-10-25T01:00:00Z');
    expect(
      Object.values(await startsByCluster(world))
        .flat()
        .sort(),
    ).toEqual(['10-25T00:00', '10-25T01:00']);
  });
});

describe('which window, and all freezes', () => {
  test('config before workspace before organization before system default; the freezes of all hold', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', [
      { name: 'own', workspace: 'own' },
      { name: 'inherits', workspace: 'inherits' },
      { name: 'default', workspace: 'default', organization: 'other' },
    ]);
    const windows = windowsOf(world);
    const freezes = (from: string, to: string) => ({ freezes: [{ from, to, reason: null }] });
    await windows.ofWorkspace('own', await windows.make('workspace', slots(['01:00', '09:00'])));
    await windows.ofOrganization(
      'own',
      await windows.make('organization', { ...slots(['02:00', '09:00']), ...freezes('2026-03-02T00:30:00Z', '2026-03-02T01:30:00Z') }),
    );
    await windows.make('default', {
      ...slots(['03:00', '09:00']),
      ...freezes('2026-03-02T01:30:00Z', '2026-03-02T04:00:00Z'),
      is_system_default: true,
    });
    await rollOut(world);
    await to(world, '2026-03-02T01:10:00Z');
    expect([await holds('own'), await holds('inherits'), await holds('default')]).toEqual([
      ['freeze'],
      ['window_closed', 'freeze'],
      ['window_closed'],
    ]);
    const { earliest_start } = await itemView(world.services, (await itemOf('own')).id);
    expect(earliest_start, 'the freezes follow one another').toBe(Date.parse('2026-03-02T04:00:00Z'));
    await to(world, '2026-03-02T05:00:00Z');
    const all = { own: ['03-02T04:00'], inherits: ['03-02T04:00'], default: ['03-02T04:00'] };
    expect(await startsByCluster(world)).toEqual(all);
  });

  test('an active Maintenance is an open window and comes first; a freeze wins over it', async () => {
    // Whose Maintenance begins or ends is looked up by the tick.
    world = await fleetAt('2026-03-02T00:00:00Z', names(3), 10 * MINUTE);
    const windows = windowsOf(world);
    const window = await windows.make('nights', {
      ...slots(['20:00', '22:00']),
      freezes: [{ from: '2026-03-02T00:00:00Z', to: '2026-03-02T01:00:00Z', reason: 'audit' }],
    });
    await windows.ofOrganization('c1', window);
    await createMaintenance(
      world.runtime.services.resources,
      { k8s_clusters: [world.host('c2').id], start: Date.parse('2026-03-02T00:30:00Z'), end: Date.parse('2026-03-02T03:00:00Z') },
      'test',
    );
    await rollOut(world);
    await to(world, '2026-03-02T00:45:00Z');
    expect(await holds('c2')).toEqual(['freeze']);
    expect((await itemView(world.services, (await itemOf('c2')).id)).earliest_start).toBe(Date.parse('2026-03-02T01:00:00Z'));
    await to(world, '2026-03-02T01:00:00Z');
    await finish(world);
    await to(world, '2026-03-02T04:00:00Z');
    expect(await startsByCluster(world)).toEqual({ c1: [], c2: ['03-02T01:00'], c3: [] });
  });

  test('B28 a manual trigger starts outside the window, never in a freeze', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', names(2));
    const windows = windowsOf(world);
    const freezes = [{ from: '2026-03-02T06:00:00Z', to: '2026-03-02T07:00:00Z', reason: 'audit' }];
    await windows.ofOrganization('c1', await windows.make('nights', { ...slots(['20:00', '22:00']), freezes }));
    await rollOut(world);
    await to(world, '2026-03-02T06:30:00Z');
    await triggerNow(world.services, operatorConfigId(world.services.ids), {}, 'test');
    await world.settle();
    expect(await holds('c1')).toEqual(['freeze']);
    expect((await itemView(world.services, (await itemOf('c1')).id)).earliest_start).toBe(Date.parse('2026-03-02T07:00:00Z'));
    await to(world, '2026-03-02T08:00:00Z');
    expect(await startsByCluster(world)).toEqual({ c1: ['03-02T07:00'], c2: ['03-02T07:00'] });
  });
});

describe('what people change while items wait counts at once', () => {
  test('a window, its freezes, its zone, the system default, and who inherits what', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', [
      { name: 'a', workspace: 'a' },
      { name: 'b', workspace: 'b' },
    ]);
    await world.config({ max_concurrent_percent: 1 }, operatorConfigId(world.services.ids));
    const windows = windowsOf(world);
    const id = await windows.make('nights', slots(['20:00', '22:00']));
    await windows.ofOrganization('a', id);
    for (const host of world.hosts.values()) host.behaviour.seconds = null;
    await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 0 });
    await rollOut(world);
    const held = async (): Promise<string> => (await holds('a')).find((code) => code !== 'canary_gate') ?? 'free';
    const seen: string[] = [await held()];
    const day = slots(['00:00', '08:00']);
    const night = await windows.make('other nights', slots(['20:00', '22:00']));
    for (const change of [
      () => windows.edit(id, day),
      () => windows.edit(id, { freezes: [{ from: '2026-03-02', to: '2026-03-02', reason: null }] }),
      () => windows.edit(id, { freezes: [] }),
      () => windows.edit(id, { time_zone: 'Asia/Tokyo' }),
      () => windows.ofOrganization('a', null),
      () => windows.edit(night, { is_system_default: true }),
      () => windows.edit(id, { time_zone: 'UTC', is_system_default: true }),
      () => windows.ofWorkspace('a', night),
      () => windows.ofWorkspace('a', null),
    ]) {
      await change();
      await world.settle();
      seen.push(await held());
    }
    expect(seen).toEqual([
      'window_closed',
      'free',
      'freeze',
      'free',
      'window_closed',
      'free',
      'window_closed',
      'free',
      'window_closed',
      'free',
    ]);
    // And the engine acts on it: the gate opens, and the first of them starts without any time passing.
    await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 100 });
    expect(line(await world.wave())).toBe('2 = 0+1+1+0+0');
  });

  test('a window given to a workspace holds its items, wherever they stand, and lets those behind them go on', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', [
      ...names(12, 'held').map((spec) => ({ ...spec, workspace: 'held', criticality: 'high' as const })),
      { name: 'free', workspace: 'free', criticality: 'low' },
    ]);
    await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 0 });
    await rollOut(world);
    const windows = windowsOf(world);
    await windows.ofWorkspace('held1', await windows.make('nights', slots(['20:00', '22:00'])));
    await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 8 });
    await world.settle();
    expect(line(await world.wave())).toBe('13 = 0+1+12+0+0');
    expect((await startsByCluster(world))['free']).toEqual(['03-02T00:00']);
    const { rollout, calendar } = await itemOf('held12');
    expect(calendar).toBe(`w:${world.host('held1').workspace}`);
    expect((await world.services.engine.wave(rollout))?.ready.filter(({ count }) => count > 0)).toEqual([{ calendar, count: 12 }]);
    await to(world, '2026-03-02T20:00:00Z');
    expect((await holds('held12')).includes('window_closed')).toBe(false);
  });

  test('an archived window counts for nobody, and counts again when it is back', async () => {
    world = await fleetAt('2026-03-02T00:00:00Z', names(1));
    world.host('c1').behaviour.seconds = null;
    const windows = windowsOf(world);
    const id = await windows.make('nights', slots(['20:00', '22:00']));
    await windows.ofOrganization('c1', id);
    await rollOut(world);
    expect(await holds('c1')).toEqual(['window_closed']);
    const { objects } = world.services;
    const before = await objects.get('maintenance_window', id, true);
    if (before === null) throw new Error('no window');
    await objects.replace('maintenance_window', before, { ...before, archived: true, archived_at: world.now() });
    await world.runtime.services.resources.changes.changed({ type: 'maintenance_window', id, fields: ['archived'] });
    await world.settle();
    expect(line(await world.wave())).toBe('1 = 0+1+0+0+0');
  });
});

test('B30 the deadline starts with the action: with its full time at the opening', async () => {
  world = await fleetAt('2026-03-02T14:00:00Z', names(1));
  const windows = windowsOf(world);
  await windows.ofOrganization('c1', await windows.make('nights', slots(['02:00', '04:00'])));
  await world.config({ action_timeout_seconds: 1800, max_retries: 1 }, systemConfigId(world.services.ids));
  await rollOut(world);
  await to(world, '2026-03-03T02:00:00Z');
  const item = await itemOf('c1');
  const [run] = [...(await world.services.engine.runs(item.attempts)).values()];
  expect(run).toMatchObject({ dispatched_at: Date.parse('2026-03-03T02:00:00Z'), deadline: Date.parse('2026-03-03T02:00:00Z') + HOUR / 2 });
});
