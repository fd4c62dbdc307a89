import { expect, test } from 'vitest';
import { Console } from '../support/console.ts';
import { at } from '../support/cron-api.ts';
import { Death, dieAtEach, lastingTable, survives } from '../support/death.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
const renew = lastingTable(() => world);

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
  if (!lived) {
    await world.restart();
    // What the restart takes up again needs no time; a minute that passes in the midst of it would end a wave that is still empty.
    await world.settle();
  }
  await world.play(10 * 60, 60);
  expect((await world.waves()).map((wave) => [line(wave), wave.status])).toEqual([['2 = 2+0+0+0+0', 'completed']]);
  expect([...world.hosts.values()].map((host) => new Set(host.executed).size)).toEqual([1, 1]);
  return lived;
}

test('a process that dies between any two writes of a fire: every target has the action once', async () => {
  expect(await dieAtEach(fireThatDiesBefore, renew), 'it died in the midst of the fire').toBeGreaterThan(5);
}, 300_000);
