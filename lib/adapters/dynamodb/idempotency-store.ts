import type { Begun, IdempotencyStore } from '../../app/idempotency.ts';
import { HOUR, type Instant, SECOND } from '../../domain/shared/time.ts';
import { gunzipJson, gzipJson } from './blob.ts';
import type { Table } from './client.ts';
import { and, type Condition, eq, exists, lte, missing, or } from './expression.ts';
import { keys } from './keys.ts';
import type { Row } from './row.ts';

const KEEP = 24 * HOUR;
const LOST_AFTER = 60 * SECOND;

/** One row per key. It ends by comparison; the table's own deletion (TTL) may come days later. */
export class DynamoIdempotencyStore implements IdempotencyStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async begin(owner: string, key: string, request_hash: string, now: Instant): Promise<Begun> {
    // The table's answer may be lost and asked for again: then the row that stands in the way is our own.
    const token = crypto.randomUUID();
    const expires_at = Math.ceil((now + KEEP) / 1000);
    const set = { entity: 'idempotency', schema_version: 1, request_hash, began_at: now, token, expires_at };
    const begun = await this.#table.update(keys.idempotency(owner, key), { set, remove: ['status', 'body'] }, free(request_hash, now));
    if (begun.ok || begun.row === null || begun.row['token'] === token) return { kind: 'fresh' };
    return answered(begun.row, request_hash);
  }

  async finish(owner: string, key: string, status: number, body: unknown): Promise<void> {
    const set = { status, body: await gzipJson(body ?? null) };
    await this.#table.update(keys.idempotency(owner, key), { set }, unanswered);
  }

  /** As if it had begun long ago, so that it is free for whatever comes next. */
  async release(owner: string, key: string): Promise<void> {
    await this.#table.update(keys.idempotency(owner, key), { set: { began_at: 0 } }, unanswered);
  }
}

const unanswered: Condition = and(exists('pk'), missing('status'));

const free = (request_hash: string, now: Instant): Condition =>
  or(
    missing('pk'),
    lte('began_at', now - KEEP),
    and(missing('status'), lte('began_at', now - LOST_AFTER), eq('request_hash', request_hash)),
  );

async function answered(row: Row, request_hash: string): Promise<Begun> {
  if (row['request_hash'] !== request_hash) return { kind: 'mismatch' };
  if (row['status'] === undefined) return { kind: 'in_progress' };
  return { kind: 'replay', status: row['status'] as number, body: await gunzipJson(row['body'] as Uint8Array) };
}
