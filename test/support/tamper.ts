import type { Sender } from '../../lib/adapters/dynamodb/client.ts';

type Row = Readonly<Record<string, unknown>>;
type WriteParts = Readonly<Record<string, { readonly Key?: Row; readonly Item?: Row }>>;

/** A transaction of the program, as a test sees it. */
export interface Transaction {
  /** Partition keys of the rows that it puts or changes. */
  readonly rows: readonly string[];
  /** What it puts as a whole. */
  readonly puts: readonly Row[];
}

/** What becomes of it; `lost` = it happens, and the answer never comes. */
export type Fate = 'as usual' | 'conflict' | 'throttled' | 'died before' | 'lost';

/** The table that decides the fate of each transaction as a test says; a process that dies is an error that nothing repeats. */
export class Tamper {
  decide: (transaction: Transaction) => Fate = () => 'as usual';

  /** For `WorldOptions.between`. */
  readonly wrap = (sender: Sender): Sender => {
    const inner = sender.send.bind(sender) as (command: unknown) => Promise<unknown>;
    const send = async (command: { constructor: { name: string }; input: Record<string, unknown> }): Promise<unknown> => {
      if (command.constructor.name !== 'TransactWriteCommand') return inner(command);
      const parts = (command.input['TransactItems'] as WriteParts[]).flatMap((item) => Object.values(item));
      const fate = this.decide({
        rows: parts.map(({ Key, Item }) => String((Key ?? Item)?.['pk'])),
        puts: parts.flatMap(({ Item }) => (Item === undefined ? [] : [Item])),
      });
      switch (fate) {
        case 'as usual':
          return inner(command);
        case 'conflict':
          throw Object.assign(named('TransactionCanceledException'), {
            CancellationReasons: parts.map((_, i) => ({ Code: i === 0 ? 'TransactionConflict' : 'None' })),
          });
        case 'throttled':
          throw named('ProvisionedThroughputExceededException');
        case 'died before':
          throw named('Died');
        case 'lost':
          await inner(command);
          throw named('Died');
      }
    };
    return { send } as unknown as Sender;
  };
}

const named = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });
