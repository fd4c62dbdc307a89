import type { WatchState, WatchStore } from '../../app/agents/watch-state.ts';
import type { Notice } from '../../app/ports.ts';
import type { Table } from './client.ts';
import { eq, missing } from './expression.ts';
import { keys } from './keys.ts';
import { type Announce, nobody, noticeAction } from './outbox-rows.ts';
import type { Action } from './transact.ts';

export class DynamoWatchStore implements WatchStore {
  readonly #table: Table;
  readonly #announce: Announce;

  constructor(table: Table, announce: Announce = nobody) {
    this.#table = table;
    this.#announce = announce;
  }

  async read(): Promise<WatchState> {
    const row = await this.#table.get(keys.watch(), true);
    const { revision, checked_at, alert } = (row ?? {}) as Partial<WatchState>;
    return { revision: revision ?? 0, checked_at: checked_at ?? null, alert: alert ?? null };
  }

  async write(before: WatchState, after: Omit<WatchState, 'revision'>, notices: readonly Notice[]): Promise<boolean> {
    const set = { entity: 'watch', revision: before.revision + 1, checked_at: after.checked_at, alert: after.alert };
    const condition = before.revision === 0 ? missing('pk') : eq('revision', before.revision);
    // One row needs no transaction, at half the price.
    if (notices.length === 0) return (await this.#table.update(keys.watch(), { set }, condition)).ok;
    const update: Action = { kind: 'update', key: keys.watch(), update: { set }, condition };
    const written = await this.#table.transact([update, ...notices.map(noticeAction)]);
    if (written.ok) await this.#announce(notices.map(({ id }) => id));
    return written.ok;
  }
}
