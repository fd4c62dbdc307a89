import { afterEach, beforeEach } from 'vitest';
import type { Sender } from '../../lib/adapters/dynamodb/client.ts';
import { type EmbeddedTable, startTable } from '../../local/table.ts';
import type { World } from './world.ts';

/** `CRASH_STEP=1 npm test` dies before every single write; each third one is what there is time for. */
const CRASH_STEP = Number(process.env['CRASH_STEP'] ?? 3);

const WRITES: ReadonlySet<string> = new Set(['PutCommand', 'UpdateCommand', 'DeleteCommand', 'TransactWriteCommand']);

/** The process dies before its nth write: from then on nothing that it does reaches the table. */
export class Death {
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

/** True when the process died meanwhile, whatever else that broke. */
export async function survives(death: Death, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
  } catch (error) {
    if (!death.dead) throw error;
  }
  return !death.dead;
}

/** A table that outlives the process, for each test of the file; answers what ends the world and begins with an empty table. */
export function lastingTable(world: () => World): () => Promise<void> {
  let table: EmbeddedTable;
  const begin = async (): Promise<void> => {
    table = await startTable({ file: null });
    process.env['DYNAMODB_ENDPOINT'] = String(table.client.endpoint);
  };
  const end = async (): Promise<void> => {
    await world().stop();
    await table.stop();
  };
  beforeEach(begin);
  afterEach(async () => {
    delete process.env['DYNAMODB_ENDPOINT'];
    await end();
  });
  return async () => {
    await end();
    await begin();
  };
}

/** Dies before one write after the other, until `lives` says that it ended before that many; answers how many that were. */
export async function dieAtEach(lives: (write: number) => Promise<boolean>, renew: () => Promise<void>): Promise<number> {
  let write = 0;
  for (; !(await lives(write)); write += CRASH_STEP) await renew();
  return write;
}
