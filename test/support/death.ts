import type { Sender } from '../../lib/adapters/dynamodb/client.ts';

/** `CRASH_STEP=1 npm test` dies before every single write; each third one is what there is time for. */
export const CRASH_STEP = Number(process.env['CRASH_STEP'] ?? 3);

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
