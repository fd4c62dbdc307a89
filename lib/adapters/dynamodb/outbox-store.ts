import type { OutboxStore, Waiting } from '../../app/notify/ports.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { Table } from './client.ts';
import { and, eq, exists, missing } from './expression.ts';
import { instantPart, type Key, keys } from './keys.ts';
import { waitingFrom } from './outbox-rows.ts';

/** Sorts after every id at the same instant. */
const END = '~';

export class DynamoOutboxStore implements OutboxStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async due(now: Instant, limit: number): Promise<readonly Waiting[]> {
    const { rows } = await this.#table.query({ index: 'gsi2', pk: keys.duePartition('outbox'), to: `${instantPart(now)}#${END}`, limit });
    const found = await this.#read(rows);
    return found.filter(({ next_try }) => next_try <= now).sort((a, b) => a.next_try - b.next_try);
  }

  named(ids: readonly string[]): Promise<readonly Waiting[]> {
    return this.#read(ids.map((id) => keys.outbox(id)));
  }

  /** The rows as they are now: the index may show what has been delivered or claimed meanwhile. */
  async #read(rows: readonly Key[]): Promise<Waiting[]> {
    return (await this.#table.getMany(rows, true)).flatMap((row) => waitingFrom(row) ?? []);
  }

  async claim({ notice, tries }: Waiting, next_try: Instant): Promise<boolean> {
    const set = { tries: tries + 1, ...keys.due('outbox', next_try, notice.id) };
    const untouched = and(exists('gsi2pk'), tries === 0 ? missing('tries') : eq('tries', tries));
    return (await this.#table.update(keys.outbox(notice.id), { set }, untouched)).ok;
  }

  async delivered({ notice, tries }: Waiting, at: Instant): Promise<void> {
    const update = { set: { delivered_at: at }, remove: ['gsi2pk', 'gsi2sk'] };
    await this.#table.update(keys.outbox(notice.id), update, eq('tries', tries + 1));
  }
}
