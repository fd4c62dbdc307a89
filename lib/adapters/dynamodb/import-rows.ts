import type { ImportRow, ImportState } from '../../app/import/ports.ts';
import { DAY } from '../../domain/shared/time.ts';
import { gunzipJson, gzipJson } from './blob.ts';
import { pack, unpack } from './codec.ts';
import { keys } from './keys.ts';
import type { Row } from './row.ts';

const SCHEMA_VERSION = 1;
/** A finished import can be asked about as long as runs can (SPEC §7 "Retention"). */
const KEEP_FINISHED = 90 * DAY;

const seconds = (at: number): number => Math.ceil(at / 1000);

const IMPORT_DEFAULTS: Partial<ImportRow> = { finished_at: null, prune: false, pruned_up_to: '' };

/** Only a running import is looked at again; a finished one goes away by itself. */
export function importRow(row: ImportRow): Row {
  return {
    ...keys.import(row.id),
    entity: 'import',
    schema_version: SCHEMA_VERSION,
    ...pack(row, IMPORT_DEFAULTS),
    ...(row.status === 'running' ? keys.due('import', row.look_again_at, row.id) : {}),
    ...(row.finished_at === null ? {} : { expires_at: seconds(row.finished_at + KEEP_FINISHED) }),
  };
}

export const importFrom = (row: Row): ImportRow => unpack<ImportRow>(row, IMPORT_DEFAULTS);

export async function stateRow({ id, version, ...said }: ImportState): Promise<Row> {
  return { ...keys.importState(id), entity: 'imported', schema_version: SCHEMA_VERSION, version, body: await gzipJson(said) };
}

export async function stateFrom(row: Row): Promise<ImportState> {
  const said = (await gunzipJson(row['body'] as Uint8Array)) as Omit<ImportState, 'id' | 'version'>;
  return { ...said, id: decodeURIComponent(row.pk.slice(row.pk.indexOf('#') + 1)), version: row['version'] as number };
}
