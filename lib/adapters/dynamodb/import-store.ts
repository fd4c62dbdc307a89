import type { ImportRow, ImportState, ImportStore, ImportUnit, UnitChange } from '../../app/import/ports.ts';
import type { Also, Clock, Ids } from '../../app/ports.ts';
import { DAY, type Instant } from '../../domain/shared/time.ts';
import { gunzipJson, gzipJson } from './blob.ts';
import type { Table } from './client.ts';
import { eq, missing } from './expression.ts';
import { importFrom, importRow, stateFrom } from './import-rows.ts';
import { grouped, transactionOf, type UnitWrites, unitWrites } from './import-writes.ts';
import { instantPart, keys } from './keys.ts';
import type { Action } from './transact.ts';

/** A body outlives every import that is still going on. */
const KEEP_PAGES = 7 * DAY;
const PARALLEL_PAGES = 8;
/** Sorts behind every id. */
const END = '~';

/** Fleet files on their way in: progress, body, and what was imported last. */
export class DynamoImportStore implements ImportStore {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #also: (also: Also) => Action[];

  constructor(table: Table, clock: Clock, ids: Ids, also: (also: Also) => Action[]) {
    this.#table = table;
    this.#clock = clock;
    this.#ids = ids;
    this.#also = also;
  }

  async savePages(id: string, pages: readonly (readonly ImportUnit[])[]): Promise<void> {
    const expires_at = Math.ceil((this.#clock.now() + KEEP_PAGES) / 1000);
    const left = [...pages.entries()];
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [page, units] = next;
        const set = { entity: 'import_page', schema_version: 1, body: await gzipJson(units), expires_at };
        await this.#table.update(keys.importChunk(id, page), { set });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_PAGES }, work));
  }

  async loadPage(id: string, page: number): Promise<readonly ImportUnit[]> {
    const row = await this.#table.get(keys.importChunk(id, page), true);
    if (row === null) throw new Error(`Page ${page} of import ${id} is not there any more; import the file again.`);
    return (await gunzipJson(row['body'] as Uint8Array)) as ImportUnit[];
  }

  async get(id: string): Promise<ImportRow | null> {
    const row = await this.#table.get(keys.import(id), true);
    return row === null ? null : importFrom(row);
  }

  async due(now: Instant, limit: number): Promise<readonly string[]> {
    const pk = keys.duePartition('import');
    const { rows } = await this.#table.query({ index: 'gsi2', pk, to: `${instantPart(now)}#${END}`, limit });
    return rows.map((row) => row.pk.slice(row.pk.indexOf('#') + 1));
  }

  async put(before: ImportRow | null, after: ImportRow, also: readonly Also[] = []): Promise<boolean> {
    const row = importRow({ ...after, version: (before?.version ?? 0) + 1 });
    const condition = before === null ? missing('pk') : eq('version', before.version);
    return (await this.#table.transact([{ kind: 'put', row, condition }, ...also.flatMap(this.#also)])).ok;
  }

  async states(units: readonly string[]): Promise<Map<string, ImportState>> {
    const rows = await this.#table.getMany(units.map(keys.importState), true);
    const states = await Promise.all(rows.map(stateFrom));
    return new Map(states.map((state) => [state.id, state]));
  }

  /** One transaction after the other: they would only wait for each other at the fleet's row. */
  async apply(changes: readonly UnitChange[]): Promise<readonly boolean[]> {
    const now = this.#clock.now();
    const writes = await Promise.all(changes.map((change) => unitWrites(change, now, this.#ids)));
    const written: boolean[] = [];
    for (const group of grouped(writes)) written.push(...(await this.#write(group)));
    return written;
  }

  /** Refused together: each by itself, so that only those that somebody else has changed stay out. */
  async #write(group: readonly UnitWrites[]): Promise<boolean[]> {
    const { ok } = await this.#table.transact(transactionOf(group));
    if (ok || group.length === 1) return group.map(() => ok);
    const answers: boolean[] = [];
    for (const one of group) answers.push((await this.#table.transact(transactionOf([one]))).ok);
    return answers;
  }
}
