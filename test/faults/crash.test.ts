import { expect, test } from 'vitest';
import { Console } from '../support/console.ts';
import { Death, dieAtEach, lastingTable, survives } from '../support/death.ts';
import { Invariants } from '../support/invariants.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
const renew = lastingTable(() => world);

async function rollOut(): Promise<void> {
  const invariants = new Invariants(world, () => 1);
  await world.until(async () => {
    await invariants.check(1);
    const waves = await world.waves();
    return waves.length > 0 && waves.every((wave) => wave.status === 'completed');
  });
}

/** The person sends the change until it is there. */
async function wanted(): Promise<void> {
  const admin = await Console.open(world);
  await admin.patch('system-config/', { OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.settle();
}

/** Two clusters one after the other, the second fails once. True when it ended before that many writes. */
async function rolloutThatDiesBefore(write: number): Promise<boolean> {
  const death = new Death();
  world = await World.start({ between: death.between });
  await world.plainRules();
  await world.config({ max_retries: 1, retry_base_seconds: 10 });
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 50 });
  await world.addClusters(names(2));
  await world.turns();
  world.host('c2').behaviour.exit = (attempt) => (attempt === 1 ? 1 : 0);
  death.left = write;
  const lived = await survives(death, async () => {
    await wanted();
    await rollOut();
  });
  if (!lived) {
    await world.restart();
    await wanted();
    await rollOut();
  }
  expect((await world.waves()).map(line)).toEqual(['2 = 2+0+0+0+0']);
  // What was told to a dead process may have been done: the agent tells it again, and does it no second time.
  expect([...world.hosts.values()].map((host) => new Set(host.executed).size)).toEqual([1, 2]);
  return lived;
}

test('B17 a process that dies between any two writes leaves nothing pinned', async () => {
  expect(await dieAtEach(rolloutThatDiesBefore, renew), 'it died in the midst of the rollout').toBeGreaterThan(20);
}, 600_000);
