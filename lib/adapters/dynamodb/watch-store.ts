import type { WatchState, WatchStore } from '../../app/agents/watch-state.ts';
import type { Table } from './client.ts';
import { eq, missing } from './expression.ts';
import { keys } from './keys.ts';

export class DynamoWatchStore implements WatchStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async read(): Promise<WatchState> {
    const row = await this.#table.get(keys.watch(), true);
    const { revision, checked_at, alert } = (row ?? {}) as Partial<WatchState>;
    return { revision: revision ?? 0, checked_at: checked_at ?? null, alert: alert ?? null };
  }

  async write(before: WatchState, after: Omit<WatchState, 'revision'>): Promise<boolean> {
    const set = { entity: 'watch', revision: before.revision + 1, checked_at: after.checked_at, alert: after.alert };
    const unchanged = before.revision === 0 ? missing('pk') : eq('revision', before.revision);
    return (await this.#table.update(keys.watch(), { set }, unchanged)).ok;
  }
}
