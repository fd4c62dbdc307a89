import { afterEach, describe, expect, test } from 'vitest';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { demandOf } from '../../lib/app/engine/demands.ts';
import { enqueuePage } from '../../lib/app/engine/enqueue-page.ts';
import { finishEnqueue, planPages } from '../../lib/app/engine/enqueue-pages.ts';
import { enqueueRunOf } from '../../lib/app/engine/enqueue-run.ts';
import type { EngineServices } from '../../lib/app/engine/services.ts';
import { Console, dashboard, runsOf } from '../support/console.ts';
import { type ClusterSpec, line, names, World } from '../support/world.ts';

let world: World;
let admin: Console;
afterEach(() => world.stop());

async function fleet(specs: readonly ClusterSpec[]): Promise<void> {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(specs);
  await world.turns();
  admin = await Console.open(world);
}
const operator = () => `block-rollout-configs/${operatorConfigId(world.services.ids)}/`;
const row = async (name: string) => (await dashboard(world)).rows.find((shown) => shown.cluster_id === world.host(name).id);

describe('B36 one rule of versions in preview, dispatcher and dashboard', () => {
  test.each([
    ['2.0.0-rc.1', '2.0.0'],
    ['1.9.0', '1.10.0'],
    ['1.0.0-rc.9', '1.0.0-rc.10'],
  ])('%s to %s is an upgrade', async (installed, target) => {
    await fleet([{ name: 'c1', installed }]);
    await world.config({ active: false });
    await admin.patch('system-config/', { OPERATOR_BLOCK_VERSION: target });
    await world.settle();
    const [seen] = (await admin.get(`${operator()}preview/`)).results;
    expect([seen.action, seen.reason]).toEqual(['upgrade', 'version']);
    expect((await row('c1'))?.rollout_status).toBe('update_available');
    await admin.patch(operator(), { active: true });
    await world.settle();
    await world.until(async () => (await world.wave()).status === 'completed', 600_000, 5);
    expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
    expect((await row('c1'))?.installed_version).toBe(target);
  });

  test.each([
    ['2.0.0', '2.0.0-rc.2'],
    ['1.4.2', '1.4.1'],
    ['1.0.0-rc9', '1.0.0-rc10'],
  ])('%s to %s is no upgrade and does not start silently', async (installed, target) => {
    await fleet([{ name: 'c1', installed }]);
    await world.config({ active: false });
    await admin.patch('system-config/', { OPERATOR_BLOCK_VERSION: target });
    await world.settle();
    const [seen] = (await admin.get(`${operator()}preview/`)).results;
    expect([seen.action, seen.reason]).toEqual(['skip', 'installed_is_newer']);
    await admin.patch(operator(), { active: true });
    await world.play(300, 30);
    const wave = await world.wave();
    expect([line(wave), wave.status]).toEqual(['1 = 0+0+0+0+1', 'completed']);
    expect((await world.items(wave.id))[0]?.reason).toBe('installed_is_newer');
    expect((await row('c1'))?.rollout_status).toBe('ahead');
    expect(world.host('c1').executed).toEqual([]);
    await world.settings({ RESYNC_MINUTES: 30 });
    expect(await world.waves()).toHaveLength(1);
  });

  test('a lowered target with allow_downgrade is one, and labelled so', async () => {
    await fleet([{ name: 'c1', installed: '1.4.2' }]);
    await admin.patch('system-config/', { OPERATOR_BLOCK_VERSION: '1.4.1', allow_downgrade: true });
    await world.settle();
    await world.until(async () => (await world.wave()).counters.done === 1, 600_000, 5);
    expect(world.host('c1').installed).toBe('1.4.1');
  });
});

/** Looks at the whole fleet with what this instance takes for the settings. */
async function lookAs(services: EngineServices): Promise<void> {
  const run = enqueueRunOf(demandOf(services, {}));
  await services.engine.putEnqueueRun(run, null);
  const ref = { enqueue_run: run.id, execution: 'instance' };
  for (const page of (await planPages(services, ref)).pages) await enqueuePage(services, { ...ref, page });
  await finishEnqueue(services, ref);
  await world.settle();
}

test('B39 an instance that still holds the older target brings nothing back', async () => {
  await fleet(names(6));
  await world.settings({ OPERATOR_BLOCK_VERSION: '1.4.0', OPERATOR_ROLLOUT_PERCENTAGE: 34 });
  const old = await world.services.settings.read();
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '1.5.0' });
  const runsFor = async (target: string) =>
    (await Promise.all((await world.waves()).map(async (wave) => runsOf(world, await world.items(wave.id)))))
      .flat()
      .filter((run) => run.rendered_target_version === target).length;
  const before = await runsFor('1.4.0');
  const stale: EngineServices = {
    ...world.services,
    settings: { read: async () => old, write: (a, b, also) => world.services.settings.write(a, b, also) },
  };
  for (let tick = 0; tick < 10; tick++) {
    await lookAs(tick % 2 === 0 ? stale : world.services);
    await world.turns();
    await world.advance(60);
  }
  await world.until(async () => (await world.waves()).every((wave) => wave.status === 'completed'), 3_600_000, 30);
  expect(await runsFor('1.4.0')).toBe(before);
  const waves = await world.waves();
  expect(waves.filter((wave) => wave.target_version === '1.5.0')).toHaveLength(1);
  expect(waves.map((wave) => wave.target_version).sort()).toEqual(['1.4.0', '1.5.0']);
  expect([...world.hosts.values()].map((host) => host.installed)).toEqual(Array(6).fill('1.5.0'));
});

test('B40 (a) nothing to do makes no wave; (b) an unknown version is not up to date', async () => {
  await fleet(names(5).map((spec) => ({ ...spec, installed: '2.0.0' })));
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(120, 60);
  expect(await world.waves()).toEqual([]);
  await world.addClusters([{ name: 'unknown', installed: null }]);
  await world.turns();
  await world.settings({ RESYNC_MINUTES: 30 });
  await world.until(async () => (await world.waves()).length > 0);
  const [item, ...others] = await world.items((await world.wave()).id);
  expect([item?.k8s_cluster, others]).toEqual([world.host('unknown').id, []]);
  await world.until(async () => (await world.wave()).status === 'completed');
  expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
});

describe('boundary row 11', () => {
  test('a small v is the same version: no item, and no loop', async () => {
    await fleet([{ name: 'c1', installed: 'v1.4.0' }]);
    await world.settings({ OPERATOR_BLOCK_VERSION: '1.4.0' });
    await world.play(600, 60);
    expect(await world.waves()).toEqual([]);
    expect((await row('c1'))?.rollout_status).toBe('up_to_date');
  });

  test('what is no version is refused, and the old target stays', async () => {
    await fleet([]);
    await admin.patch('system-config/', { OPERATOR_BLOCK_VERSION: '1.4.0' });
    for (const target of ['V1.2.3', '1.2', '01.2.3', '1.2.3.4', 'latest', ''])
      expect([target, (await admin.send('PATCH', 'system-config/', { OPERATOR_BLOCK_VERSION: target })).status]).toEqual([target, 400]);
    expect((await admin.get('system-config/')).OPERATOR_BLOCK_VERSION).toBe('1.4.0');
  });
});

test('a change of settings in the middle of an enqueue run leaves nobody out', async () => {
  await fleet(names(40));
  const once = { left: 2 };
  const { settings } = world.services;
  const services: EngineServices = {
    ...world.services,
    settings: {
      read: async () => {
        const before = await settings.read();
        if (once.left-- > 0) await settings.write(before, { ...before, OPERATOR_BLOCK_VERSION: '2.0.0', free: { change: once.left } }, []);
        return before;
      },
      write: (a, b, also) => settings.write(a, b, also),
    },
  };
  await world.settings({ OPERATOR_BLOCK_VERSION: '1.5.0', OPERATOR_ROLLOUT_PERCENTAGE: 0 });
  await lookAs(services);
  expect((await world.waves()).filter((wave) => wave.target_version === '2.0.0').map(line)).toEqual(['40 = 0+0+40+0+0']);
});
