import { afterEach, expect, test } from 'vitest';
import { createManualItem } from '../../lib/app/engine/manual-item.ts';
import { retryWave } from '../../lib/app/engine/retry-wave.ts';
import { cancelWave } from '../../lib/app/engine/wave-verbs.ts';
import { names, World } from '../support/world.ts';

/** SPEC §11: who has to know is told, once for each thing that happened. */

let world: World;
const lines: { event: string; kind?: string; notice?: string }[] = [];
afterEach(() => world.stop());

async function started(n: number, change: Parameters<World['config']>[0] = {}) {
  lines.length = 0;
  world = await World.start({ log: (line) => void lines.push(JSON.parse(line)) });
  await world.plainRules();
  await world.config(change);
  const hosts = await world.addClusters(names(n));
  await world.turns();
  return hosts;
}
const told = (): string[] => lines.filter(({ event }) => event === 'notice').map(({ kind }) => kind ?? '');
const texts = (kind: string): string[] => lines.filter((line) => line.event === 'notice' && line.kind === kind).map((l) => l.notice ?? '');

test('a wave is opened and completed', async () => {
  await started(4);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(300);
  const wave = await world.wave();
  expect(told()).toEqual(['wave_opened', 'wave_completed']);
  expect(texts('wave_opened')).toEqual([`Wave ${wave.batch_identifier} was opened.`]);
  expect(texts('wave_completed')[0]).toContain('4 of 4 done, 0 failed');
});

test('a wave is blocked: once, whatever happens to it then, and each failed item is told', async () => {
  const hosts = await started(10, { failure_threshold_percent: 20, max_retries: 0 });
  for (const host of hosts) host.behaviour.exit = () => 1;
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(600);
  const wave = await world.wave();
  expect(wave.status).toBe('blocked');
  expect(texts('wave_blocked')).toHaveLength(1);
  expect(texts('wave_blocked')[0]).toContain('failure_threshold');
  expect(texts('item_failed')).toHaveLength(wave.counters.failed);
  expect(texts('item_failed')[0]).toMatch(/^install of ayedo\/k8s\/polycrate-operator failed: /);
  // Another block is another event.
  await retryWave(world.services, wave.id, {}, 'test');
  await world.play(600);
  expect((await world.wave()).status).toBe('blocked');
  expect(texts('wave_blocked')).toHaveLength(2);
});

test('nobody is told of a blocked wave whose config says so', async () => {
  const hosts = await started(5, { failure_threshold_percent: 0, max_retries: 0, notify_on_wave_blocked: false });
  for (const host of hosts) host.behaviour.exit = () => 1;
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(300);
  expect((await world.wave()).status).toBe('blocked');
  expect(told()).not.toContain('wave_blocked');
});

test('a wave is cancelled by somebody', async () => {
  const hosts = await started(2);
  for (const host of hosts) host.behaviour.seconds = 600;
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.turns();
  await cancelWave(world.services, (await world.wave()).id, 'eve');
  await cancelWave(world.services, (await world.wave()).id, 'eve');
  await world.play(120);
  expect(texts('wave_cancelled')).toEqual([`Wave ${(await world.wave()).batch_identifier} was cancelled by eve.`]);
});

test('a manual item opens a wave of its own, and a template that fails for a target is a failed item', async () => {
  await started(3, { target_version: '{{ cluster.labels.version }}' });
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(60);
  expect(told().filter((kind) => kind !== 'wave_blocked' && kind !== 'wave_completed')).toEqual([
    'wave_opened',
    'item_failed',
    'item_failed',
    'item_failed',
  ]);
  expect(texts('item_failed')[0]).toContain('template_error: line 1: cluster.labels.version is not defined');
  lines.length = 0;
  await world.config({ target_version: '2.0.0' });
  const [wave] = await world.waves();
  const [item] = await world.items(wave?.id ?? '');
  await createManualItem(world.services, { block: item?.block ?? '', action_name: 'install', reason: null, allow_downgrade: false }, 'eve');
  await world.advance(1);
  expect(told()[0]).toBe('wave_opened');
});

test('silence is told when it becomes a downtime and when it is over, and the silence of all as an alert of the platform', async () => {
  const hosts = await started(12);
  const [one] = hosts;
  if (one === undefined) throw new Error('no host');
  one.behaviour.silent = true;
  await world.play(420, 60);
  expect(told()).toEqual(['downtime_opened']);
  one.behaviour.silent = false;
  await world.play(60, 60);
  expect(told()).toEqual(['downtime_opened', 'downtime_closed']);
  lines.length = 0;
  for (const host of hosts) host.behaviour.silent = true;
  await world.advance(5 * 60);
  expect(told().filter((kind) => kind === 'platform_alert')).toHaveLength(1);
});

test('with every write of the delivery in doubt, each notice is delivered all the same', async () => {
  lines.length = 0;
  world = await World.start({ seed: 7, log: (line) => void lines.push(JSON.parse(line)) });
  await world.plainRules();
  await world.addClusters(names(5));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.play(900);
  expect(new Set(told())).toEqual(new Set(['wave_opened', 'wave_completed']));
});
