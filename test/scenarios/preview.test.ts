import { afterEach, expect, test } from 'vitest';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { itemView } from '../../lib/app/engine/views.ts';
import { type PreviewRow, previewConfig } from '../../lib/app/resources/config-preview.ts';
import { createConfig, updateConfig } from '../../lib/app/resources/configs.ts';
import type { Instant } from '../../lib/domain/shared/time.ts';
import { finish, fleetAt, minuteText, rollOut, to, windowsOf } from '../support/windows.ts';
import { names, type World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

const NIGHT = { time_zone: 'UTC', time_slots: [{ start: '22:00', end: '23:00' }] };

async function fleetWithNights(n: number): Promise<void> {
  world = await fleetAt('2026-03-02T12:00:00Z', names(n));
  await windowsOf(world).ofOrganization('c1', await windowsOf(world).make('nights', NIGHT));
  await world.turns();
}

const preview = async (config: string): Promise<readonly PreviewRow[]> =>
  (await previewConfig(world.services, config, { page_size: 200, page: 1, cursor: null })).rows;
const times = ({ earliest_start, scheduled_starts }: PreviewRow) =>
  [earliest_start, ...scheduled_starts.slice(0, 2)].map((at) => (at === null ? null : minuteText(at)));
const outcome = ({ action, reason }: PreviewRow) => [action, reason];

/** What the own read of each target's waiting item says. */
async function readStarts(config: string): Promise<Map<string | null, Instant | null>> {
  const starts = new Map<string | null, Instant | null>();
  for (const wave of (await world.waves()).filter((w) => w.rollout_config === config && w.status === 'active'))
    for (const { id } of await world.items(wave.id)) {
      const { item, earliest_start } = await itemView(world.services, id);
      starts.set(item.k8s_cluster, earliest_start);
    }
  return starts;
}

test('a target that waits has the earliest start of its item, in words too, as before it was enqueued', async () => {
  await fleetWithNights(3);
  const config = operatorConfigId(world.services.ids);
  await world.config({ active: false }, config);
  await rollOut(world);
  const before = await preview(config);
  expect(before.map(times)).toEqual(Array(3).fill(['03-02T22:00']));
  await updateConfig(world.runtime.services.resources, config, { active: true }, 'test');
  await world.settle();
  const after = await preview(config);
  expect(after.map(outcome)).toEqual(Array(3).fill(['none', 'already_active']));
  expect(after.map((row) => row.earliest_start_text)).toEqual(Array(3).fill('in 10 h (22:00 UTC)'));
  expect(after.map(times)).toEqual(before.map(times));
  expect(new Map(after.map((row) => [row.target_id, row.earliest_start]))).toEqual(await readStarts(config));
});

test('what only a person can end has no start in the preview either', async () => {
  await fleetWithNights(1);
  await rollOut(world);
  await world.settings({ ROLLOUTS_PAUSED: { reason: 'audit' } });
  const config = operatorConfigId(world.services.ids);
  expect((await preview(config)).map((row) => [...outcome(row), row.earliest_start])).toEqual([['none', 'already_active', null]]);
  expect([...(await readStarts(config)).values()]).toEqual([null]);
});

test('a schedule whose items wait, run or belong to another config goes on naming the starts of its next fires', async () => {
  await fleetWithNights(1);
  await rollOut(world);
  const daily = async (name: string, cron_expression: string): Promise<string> => {
    const backup = { kind: 'trigger', trigger_type: 'schedule', block_name: 'nightly', action_name: 'backup' } as const;
    return (await createConfig(world.runtime.services.resources, { ...backup, name, cron_expression }, 'test')).config.id;
  };
  const first = await daily('first', '0 13 * * *');
  const second = await daily('second', '0 14 * * *');
  await to(world, '2026-03-02T13:05:00Z');
  await world.turns();
  const [waiting] = await preview(first);
  const [busy] = await preview(second);
  if (waiting === undefined || busy === undefined) throw new Error('no target');
  expect([outcome(waiting), times(waiting)]).toEqual([
    ['none', 'already_active'],
    ['03-02T22:00', '03-03T22:00', '03-04T22:00'],
  ]);
  // It gets nothing now, and no item of its own waits.
  expect([outcome(busy), times(busy)]).toEqual([
    ['none', 'already_active'],
    [null, '03-02T22:00', '03-03T22:00'],
  ]);
  await to(world, '2026-03-02T22:00:00Z');
  await world.turns();
  const [running] = await preview(first);
  if (running === undefined) throw new Error('no target');
  expect(times(running)).toEqual([null, '03-03T22:00', '03-04T22:00']);
  await finish(world);
});
