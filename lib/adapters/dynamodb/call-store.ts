import type { CallRows, CallStore } from '../../app/agents/call-store.ts';
import type { RunLog } from '../../app/engine/ports.ts';
import { gunzipJson } from './blob.ts';
import type { Table } from './client.ts';
import { unpackObject } from './codec.ts';
import { runFrom } from './engine-rows.ts';
import { type Key, keys } from './keys.ts';
import { presenceOf } from './presence-row.ts';
import type { Row } from './row.ts';

/** What a call about a run is judged by, in one consistent read. */
export class DynamoCallStore implements CallStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async rows({ key, run, agent, log }: Parameters<CallStore['rows']>[0]): Promise<CallRows> {
    const wanted = {
      key: keys.object('access_key', key),
      run: keys.run(run),
      agent: agent === null ? null : keys.presence(agent),
      log: log ? keys.runLog(run) : null,
    };
    const rows = await this.#table.getMany(
      Object.values(wanted).filter((k) => k !== null),
      true,
    );
    const at = (k: Key | null): Row | null => (k === null ? null : (rows.find((row) => row.pk === k.pk && row.sk === k.sk) ?? null));
    const found = { key: at(wanted.key), run: at(wanted.run), agent: at(wanted.agent), log: at(wanted.log) };
    return {
      key: found.key === null ? null : unpackObject('access_key', found.key),
      run: found.run === null ? null : runFrom(found.run),
      agent: found.agent === null ? null : presenceOf(found.agent),
      log: found.log === null ? null : ((await gunzipJson(found.log['body'] as Uint8Array)) as RunLog),
    };
  }
}
