import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Console } from '../support/console.ts';
import type { Host } from '../support/host.ts';
import { line, World } from '../support/world.ts';

let world: World;
let admin: Console;
beforeEach(async () => {
  world = await World.start();
  await world.plainRules();
  admin = await Console.open(world);
});
afterEach(() => world.stop());

const BLOCK = 'ayedo/k8s/cert-manager';
const trigger = { kind: 'trigger', trigger_type: 'reconciliation', block_name: BLOCK, target_version: '1.1.0' };
const configs = 'block-rollout-configs/';

describe('B60 what another tool installed', () => {
  let host: Host;
  let block: string;
  beforeEach(async () => {
    const [made] = await world.addClusters([{ name: 'A' }]);
    if (made === undefined) throw new Error('no host');
    host = made;
    await world.turns();
    block = (await admin.post('blocks/', { name: BLOCK, workspace: host.workspace, k8s_cluster: host.id })).id;
    const { objects } = world.services;
    const before = await objects.get('block', block, true);
    if (before !== null)
      await objects.replace('block', before, {
        ...before,
        installed_version: '1.0.0',
        created_by_component: 'cli',
        config: { user: 'root' },
      });
  });
  const seen = async () => {
    const { created_by_component, managed_by_brc, config, installed_version } = await admin.get(`blocks/${block}/`);
    return { created_by_component, managed_by_brc, config, installed_version };
  };
  const untouched = { created_by_component: 'cli', managed_by_brc: null, config: { user: 'root' }, installed_version: '1.0.0' };
  const itemsNow = async () => (await admin.get('block-rollout-items/?page_size=200')).results;

  test('B60 (a) without auto_takeover it is left alone, and the item says why', async () => {
    await admin.post(configs, { ...trigger, auto_takeover: false });
    await world.play(600, 60);
    const items = await itemsNow();
    expect(items.map((i: { status: string; reason: string; attempts: string[] }) => [i.status, i.reason, i.attempts])).toEqual([
      ['skipped', 'cli_managed', []],
    ]);
    expect(await seen()).toEqual(untouched);
  });

  test('B60 (b) with auto_takeover it changes its owner once', async () => {
    const { id } = await admin.post(configs, { ...trigger, auto_takeover: true });
    await world.play(600, 60);
    const items = await itemsNow();
    expect(items.map((i: { status: string; rollout_config: string }) => [i.status, i.rollout_config])).toEqual([['completed', id]]);
    expect(await seen()).toMatchObject({ created_by_component: 'api', managed_by_brc: id, installed_version: '1.1.0' });
    expect(host.executed).toHaveLength(1);
  });

  test('B60 (c) of two that both want it one wins, and it stays so', async () => {
    const alpha = (await admin.post(configs, { ...trigger, auto_takeover: true })).id;
    const beta = (await admin.post(configs, { ...trigger, target_version: '1.2.0', auto_takeover: true })).id;
    await world.play(60, 60);
    const { managed_by_brc } = await seen();
    expect([alpha, beta]).toContain(managed_by_brc);
    for (let tick = 0; tick < 10; tick++) {
      await world.settings({ RESYNC_MINUTES: 10 + tick });
      await world.play(60, 60);
      expect((await seen()).managed_by_brc).toBe(managed_by_brc);
    }
    const other = managed_by_brc === alpha ? beta : alpha;
    const items: { rollout_config: string; status: string; reason: string }[] = await itemsNow();
    expect(items.filter((i) => i.rollout_config === other).map((i) => [i.status, i.reason])).toEqual([
      ['skipped', 'owned_by_other_config'],
    ]);
    expect(items.filter((i) => i.rollout_config === managed_by_brc).map((i) => i.status)).toEqual(['completed']);
  });

  test('B60 (d) one value that cannot be read: nothing at all is changed', async () => {
    await admin.post(configs, {
      ...trigger,
      auto_takeover: true,
      config_to_credential_mappings: [{ credential_name: 'admin', config_path: 'no.such.path' }],
    });
    await world.play(600, 60);
    const items = await itemsNow();
    expect(items.map((i: { status: string; reason: string; attempts: string[] }) => [i.status, i.reason, i.attempts])).toEqual([
      ['skipped', 'takeover_failed: no.such.path', []],
    ]);
    expect(await seen()).toEqual(untouched);
  });
});

test('B61 what the preview counts is what gets items', async () => {
  const at = (organization: string, workspace: string, n: number) =>
    Array.from({ length: n }, (_, i) => ({ name: `${organization}-${workspace}-${i}`, organization, workspace }));
  const hosts = await world.addClusters([...at('one', 'prod', 4), ...at('one', 'prod-eu', 1), ...at('two', 'prod', 5)]);
  await world.turns();
  const [one, prod] = [hosts[0]?.organization, hosts[0]?.workspace];
  const cases = [
    ['a', {}, 10],
    ['b', { target_organizations: [], target_workspaces: [] }, 10],
    ['c', { target_organizations: [one], target_workspaces: [] }, 5],
    ['e', { target_workspaces: [prod] }, 4],
  ] as const;
  for (const [name, scope, expected] of cases) {
    const made = await admin.post(configs, { ...trigger, block_name: `block-${name}`, ...scope });
    expect([name, made.targets_in_scope]).toEqual([name, expected]);
    await world.settle();
    const wave = await world.wave();
    expect([name, wave.rollout_config, wave.counters.total]).toEqual([name, made.id, expected]);
  }
  const unknown = await admin.send('POST', configs, { ...trigger, block_name: 'block-d', target_workspaces: [one] });
  expect(unknown.status).toBe(400);
  expect(line(await world.wave())).toBe('4 = 0+4+0+0+0');
  const clusters = (await world.items((await world.wave()).id)).map((item) => item.k8s_cluster);
  expect(new Set(clusters)).toEqual(new Set(hosts.slice(0, 4).map((host) => host.id)));
});
