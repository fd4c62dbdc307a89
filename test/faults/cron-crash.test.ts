import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedTable, startTable } from '../../local/table.ts';
import { Console } from '../support/console.ts';
import { at } from '../support/cron-api.ts';
import { CRASH_STEP, Death, survives } from '../support/death.ts';
import { line, names, World } from '../support/world.ts';

let table: EmbeddedTable;
let world: World;
async function freshTable(): Promise<void> {
  table = await startTable({ file: null });
  process.env['DYNAMODB_ENDPOINT'] = String(table.client.endpoint);
}
beforeEach(freshTable);
afterEach(async () => {
  delete process.env['DYNAMODB_ENDPOINT'];
  await world.stop();
  await table.stop();
});

const BACKUP = { name: 'backup', kind: 'trigger', block_name: 'ayedo/backup', action_name: 'backup' };

/** A minute before the fire the process begins to count its writes. True when it ended before that many. */
async function fireThatDiesBefore(write: number): Promise<boolean> {
  const death = new Death();
  world = await World.start({ now: at('2026-06-01T01:58:00Z'), between: death.between });
  await world.plainRules();
  await world.addClusters(names(2));
  await world.turns();
  const admin = await Console.open(world);
  await admin.post('block-rollout-configs/', { ...BACKUP, trigger_type: 'schedule', cron_expression: '0 2 * * *' });
  await world.advance(60);
  death.left = write;
  const lived = await survives(death, () => world.advance(90));
  death.left = Number.POSITIVE_INFINITY;
  if (!lived) await world.restart();
  await world.play(10 * 60, 60);
  expect((await world.waves()).map((wave) => [line(wave), wave.status])).toEqual([['2 = 2+0+0+0+0', 'completed']]);
  expect([...world.hosts.values()].map((host) => new Set(host.executed).size)).toEqual([1, 1]);
  return lived;
}

test('a process that dies between any two writes of a fire: every target has the action once', async () => {
  let deaths = 0;
  for (let write = 0; !(await fireThatDiesBefore(write)); write += CRASH_STEP) {
    deaths += 1;
    await world.stop();
    await table.stop();
    await freshTable();
  }
  expect(deaths * CRASH_STEP, 'it died in the midst of the fire').toBeGreaterThan(5);
}, 300_000);
