import { documentClient, Table } from '../../lib/adapters/dynamodb/client.ts';
import { DynamoObjectStore } from '../../lib/adapters/dynamodb/object-store.ts';
import { DynamoSettingsStore } from '../../lib/adapters/dynamodb/settings-store.ts';
import { SystemIds } from '../../lib/adapters/system/ids.ts';
import type { Clock } from '../../lib/app/ports.ts';
import { startTable } from '../../local/table.ts';

export class HandClock implements Clock {
  #now: number;
  constructor(now = 1_790_000_000_000) {
    this.#now = now;
  }
  now = (): number => this.#now;
  until = (): Promise<void> => Promise.resolve();
  forward(ms: number): void {
    this.#now += ms;
  }
  /** Not back. */
  to(instant: number): void {
    this.forward(Math.max(0, instant - this.#now));
  }
}

/** The real table of the embedded runtime, in memory, with the plain stores on it. */
export async function embedded() {
  const process = await startTable({ file: null });
  const client = documentClient(process.client);
  const table = new Table(client, process.name, { tries: 8, pause: () => Promise.resolve() });
  const clock = new HandClock();
  const ids = new SystemIds(clock);
  const objects = new DynamoObjectStore(table, clock, ids);
  const also = objects.alsoActions.bind(objects);
  const settings = new DynamoSettingsStore(table, also);
  const stop = async (): Promise<void> => {
    client.destroy();
    await process.stop();
  };
  return { client: process.client, name: process.name, table, clock, ids, objects, settings, also, stop };
}
export type Embedded = Awaited<ReturnType<typeof embedded>>;
