import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Sender } from '../../lib/adapters/dynamodb/client.ts';
import { type EmbeddedTable, startTable } from '../../local/table.ts';
import { Console } from '../support/console.ts';
import { Invariants } from '../support/invariants.ts';
import { line, names, World } from '../support/world.ts';

/** `CRASH_STEP=1 npm test` dies before every single write; each third one is what there is time for. */
const STEP = Number(process.env['CRASH_STEP'] ?? 3);

const WRITES: ReadonlySet<string> = new Set(['PutCommand', 'UpdateCommand', 'DeleteCommand', 'TransactWriteCommand']);

/** The process dies before its nth write: from then on nothing that it does reaches the table. */
class Death {
  left = Number.POSITIVE_INFINITY;
  dead = false;

  between = (sender: Sender): Sender => {
    const inner = sender.send.bind(sender) as (command: { constructor: { name: string } }) => Promise<unknown>;
    const send = async (command: { constructor: { name: string } }): Promise<unknown> => {
      if (WRITES.has(command.constructor.name)) this.dead ||= --this.left < 0;
      if (this.dead) throw Object.assign(new Error('the process is dead'), { name: 'Dead' });
      return inner(command);
    };
    return { send: send as Sender['send'] };
  };
}

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

/** True when the process died meanwhile, whatever else that broke. */
async function survives(death: Death, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
  } catch (error) {
    if (!death.dead) throw error;
  }
  return !death.dead;
}

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
  let deaths = 0;
  for (let write = 0; !(await rolloutThatDiesBefore(write)); write += STEP) {
    deaths += 1;
    await world.stop();
    await table.stop();
    await freshTable();
  }
  expect(deaths * STEP, 'it died in the midst of the rollout').toBeGreaterThan(20);
}, 600_000);
