import { afterEach, expect, test } from 'vitest';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { type PreviewRow, previewConfig } from '../../lib/app/resources/config-preview.ts';
import { createConfig } from '../../lib/app/resources/configs.ts';
import { DAY, type Instant } from '../../lib/domain/shared/time.ts';
import { finish, fleetAt, minuteText, rollOut, to, windowsOf } from '../support/windows.ts';
import type { World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

const START = Date.parse('2026-03-23T12:00:00Z');
const END = START + 14 * DAY;

/** Two weeks with a change of the clock in Berlin (29 March) and one in Adelaide (5 April); Kolkata and Adelaide are half-hour zones. */
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Adelaide'] as const;
const NIGHTS: Readonly<Record<(typeof ZONES)[number], { start: string; end: string; days?: string[] }>> = {
  'Europe/Berlin': { start: '22:00', end: '04:00', days: ['sat', 'sun', 'mon', 'tue', 'wed', 'thu'] },
  'America/New_York': { start: '21:30', end: '05:00' },
  'Asia/Kolkata': { start: '23:00', end: '24:00' },
  'Australia/Adelaide': { start: '02:15', end: '03:45', days: ['sun'] },
};
/** New York rests over the second Friday. */
const FREEZE = [{ from: '2026-04-03', to: '2026-04-04', reason: 'Easter' }];

async function makeFleet(): Promise<void> {
  const specs = ZONES.flatMap((zone, z) =>
    Array.from({ length: 10 }, (_, i) => ({ name: `${z}-${i}`, organization: zone, workspace: zone })),
  );
  world = await fleetAt(new Date(START - 10_000).toISOString(), specs);
  const windows = windowsOf(world);
  for (const [z, time_zone] of ZONES.entries()) {
    const freezes = time_zone === 'America/New_York' ? FREEZE : [];
    const id = await windows.make(time_zone, { time_zone, time_slots: [NIGHTS[time_zone]], freezes });
    // Half of them name it for the organization, half for the workspace.
    await (z % 2 === 0 ? windows.ofOrganization : windows.ofWorkspace)(`${z}-0`, id);
  }
  await world.config({ active: false }, operatorConfigId(world.services.ids));
  await rollOut(world);
}

/** A Friday night without a target version: each target, each time. */
async function makeSchedule(): Promise<string> {
  const fields = { name: 'nightly', kind: 'trigger', trigger_type: 'schedule', block_name: 'nightly', action_name: 'backup' } as const;
  const when = { cron_expression: '0 22 * * FRI', time_zone: 'Europe/Berlin' };
  return (await createConfig(world.runtime.services.resources, { ...fields, ...when }, 'test')).config.id;
}

const byTarget = (rows: readonly PreviewRow[], fires: readonly Instant[]): Map<string, string[]> =>
  new Map(rows.map((row) => [row.target, row.scheduled_starts.slice(0, fires.length).map((at) => minuteText(at ?? 0))]));

async function started(): Promise<Map<string, string[]>> {
  const names = new Map([...world.hosts].map(([name, host]) => [host.id, name]));
  const starts = new Map<string, string[]>();
  for (const { id } of await world.waves())
    for (const item of await world.items(id)) {
      const name = names.get(item.k8s_cluster ?? '') ?? '';
      const runs = await world.services.engine.runs(item.attempts);
      starts.set(name, [...(starts.get(name) ?? []), ...[...runs.values()].map((run) => minuteText(run.dispatched_at))].sort());
    }
  return starts;
}

test('two weeks, four zones, one freeze, Friday nights: the preview names every start to the minute, and nothing else starts', async () => {
  await makeFleet();
  const config = await makeSchedule();
  const { rows, next_fires, targets_in_scope } = await previewConfig(world.services, config, { page_size: 200, page: 1, cursor: null });
  const fires = next_fires.map(({ at }) => at).filter((at) => at < END);
  expect([targets_in_scope, fires.map((at) => new Date(at).toISOString())]).toEqual([
    40,
    ['2026-03-27T21:00:00.000Z', '2026-04-03T20:00:00.000Z'],
  ]);
  const named = byTarget(rows, fires);
  // By the clocks of those zones: the next night after each fire, a freeze and two changes of the clock in between.
  expect([0, 1, 2, 3].map((z) => named.get(`${z}-0`))).toEqual([
    ['03-28T21:00', '04-04T20:00'],
    ['03-28T01:30', '04-05T04:00'],
    ['03-28T17:30', '04-04T17:30'],
    ['03-28T15:45', '04-04T15:45'],
  ]);
  const instants = [...new Set(rows.flatMap((row) => row.scheduled_starts.slice(0, fires.length)))].filter((at) => at !== null);
  for (const at of [...fires, ...instants].sort((a, b) => a - b)) {
    await to(world, new Date(at).toISOString());
    await finish(world);
  }
  await to(world, new Date(END).toISOString());
  expect(await started()).toEqual(named);
  for (const wave of await world.waves()) expect([wave.status, wave.counters.done]).toEqual(['completed', 40]);
}, 120_000);
