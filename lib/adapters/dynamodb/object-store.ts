import { enqueueRunOf } from '../../app/engine/enqueue-run.ts';
import { conflict, stale } from '../../app/errors.ts';
import type {
  Also,
  AuditEvent,
  Clock,
  Create,
  Demand,
  Ids,
  KeyPage,
  Listing,
  ObjectStore,
  ObjectType,
  ObjectTypes,
} from '../../app/ports.ts';
import type { Block, K8sCluster, Maintenance, Managed, Organization, Workspace } from '../../domain/shared/fleet.ts';
import { DAY } from '../../domain/shared/time.ts';
import type { Table } from './client.ts';
import { clusterSideWrites } from './cluster-rows.ts';
import { listingOf, packObject, unpackObject } from './codec.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { enqueueRunRow } from './enqueue-rows.ts';
import { eq, missing } from './expression.ts';
import { keys } from './keys.ts';
import { type Announce, nobody, noticeAction } from './outbox-rows.ts';
import type { Row } from './row.ts';
import type { Action, TransactResult } from './transact.ts';

const SCHEMA_VERSION = 1;
const AUDIT_RETENTION = 400 * DAY;

export function objectRow<T extends ObjectType>(type: T, value: ObjectTypes[T]): Row {
  const where = listingOf(type, value);
  return {
    ...keys.object(type, value.id),
    ...keys.listing(type, where.organization, where.path, value.id),
    ...laneOf(type, value),
    entity: type,
    schema_version: SCHEMA_VERSION,
    ...packObject(type, value),
  };
}

/**
 * Maintenances are found by their end, pauses by theirs, blocks made from another by that block's name, organizations and workspaces by the
 * window that they name (gsi2).
 */
function laneOf<T extends ObjectType>(type: T, value: ObjectTypes[T]): Record<string, string> {
  if (type === 'maintenance') {
    const m = value as Maintenance;
    return m.archived || m.draft ? {} : keys.due('maintenance', m.end, m.id);
  }
  if (type === 'k8s_cluster') {
    const { id, rollout_override: o } = value as K8sCluster;
    return o.paused && o.paused_until !== null ? keys.due('pause', o.paused_until, id) : {};
  }
  if (type === 'organization' || type === 'workspace') {
    const { id, archived, maintenance_window } = value as Organization | Workspace;
    return archived || maintenance_window === null ? {} : keys.windowUser(maintenance_window, type, id);
  }
  if (type !== 'block') return {};
  const b = value as Block;
  return b.from_block === null || b.from_block === b.name
    ? {}
    : keys.fromBlock(b.from_block, b.organization, [b.workspace, b.k8s_cluster ?? '-'], b.id);
}

/** Kept for 400 days (SPEC §7). */
export const auditRow = (event: Create<AuditEvent>): Row => ({
  ...objectRow('audit_event', { ...event, version: 1 }),
  expires_at: Math.ceil((event.at + AUDIT_RETENTION) / 1000),
});

/** Writes are conditional on the version read; what rides along is in the same transaction. */
export class DynamoObjectStore implements ObjectStore {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #ids: Ids;

  readonly #announce: Announce;

  constructor(table: Table, clock: Clock, ids: Ids, announce: Announce = nobody) {
    this.#table = table;
    this.#clock = clock;
    this.#ids = ids;
    this.#announce = announce;
  }

  async get<T extends ObjectType>(type: T, id: string, consistent = false): Promise<ObjectTypes[T] | null> {
    const row = await this.#table.get(keys.object(type, id), consistent);
    return row === null ? null : unpackObject(type, row);
  }

  async getMany<T extends ObjectType>(type: T, ids: readonly string[], consistent = false): Promise<Map<string, ObjectTypes[T]>> {
    const rows = await this.#table.getMany(
      ids.map((id) => keys.object(type, id)),
      consistent,
    );
    return new Map(rows.map((row) => unpackObject(type, row)).map((value) => [value.id, value]));
  }

  async getSome<T extends ObjectType>(
    wanted: Readonly<Record<T, readonly string[]>>,
  ): Promise<{ readonly [K in T]: ReadonlyMap<string, ObjectTypes[K]> }> {
    const types = Object.entries(wanted) as [T, readonly string[]][];
    const rows = await this.#table.getMany(
      types.flatMap(([type, ids]) => ids.map((id) => keys.object(type, id))),
      true,
    );
    const found = types.map(([type]) => {
      const values = rows.filter((row) => row['entity'] === type).map((row) => unpackObject(type, row));
      return [type, new Map(values.map((value) => [value.id, value]))] as const;
    });
    return Object.fromEntries(found) as unknown as { readonly [K in T]: ReadonlyMap<string, ObjectTypes[K]> };
  }

  async create<T extends ObjectType>(type: T, value: Create<ObjectTypes[T]>, also: readonly Also[] = []): Promise<ObjectTypes[T]> {
    const created = { ...value, version: 1 } as unknown as ObjectTypes[T];
    const result = await this.#write(this.#actions(type, null, created, also));
    if (result.ok) await this.#wrote(also);
    if (result.ok) return created;
    if (result.failures.some((f) => f.index === 0))
      throw conflict(`A ${type.replaceAll('_', ' ')} named "${created.name}" already exists here.`, { id: created.id, url: '' });
    throw stale('Something it depends on was changed at the same moment; try again.');
  }

  async replace<T extends ObjectType>(
    type: T,
    before: ObjectTypes[T],
    after: ObjectTypes[T],
    also: readonly Also[] = [],
  ): Promise<ObjectTypes[T]> {
    const next = { ...after, id: before.id, version: before.version + 1, updated_at: this.#clock.now() };
    const result = await this.#write(this.#actions(type, before, next, also));
    if (!result.ok) throw stale(`The ${type.replaceAll('_', ' ')} was changed by somebody else meanwhile; read it again and repeat.`);
    await this.#wrote(also);
    return next;
  }

  async #wrote(also: readonly Also[]): Promise<void> {
    const notices = also.flatMap((a) => (a.kind === 'notice' ? [a.notice.id] : []));
    if (notices.length > 0) await this.#announce(notices);
  }

  async listIds(
    type: ObjectType,
    where: Listing,
    options: { cursor?: string | null; limit: number; newest_first?: boolean },
  ): Promise<KeyPage> {
    const pk = keys.listingPartition(type, where.organization);
    const page = await this.#table.query({
      index: 'gsi1',
      pk,
      begins: keys.listingPrefix(where.path),
      limit: options.limit,
      newest_first: options.newest_first ?? false,
      start: decodeCursor(options.cursor),
    });
    return {
      ids: page.rows.map((row) => row.pk.slice(row.pk.indexOf('#') + 1)),
      cursor: encodeCursor(page.next),
    };
  }

  count(type: ObjectType, where: Listing): Promise<number> {
    return this.#table.count({
      index: 'gsi1',
      pk: keys.listingPartition(type, where.organization),
      begins: keys.listingPrefix(where.path),
    });
  }

  #actions<T extends ObjectType>(type: T, before: ObjectTypes[T] | null, after: ObjectTypes[T], also: readonly Also[]): Action[] {
    return [...this.#object(type, before, after), ...also.flatMap((a) => this.alsoActions(a))];
  }

  /** One row needs no transaction, at half the price. */
  async #write(actions: readonly Action[]): Promise<TransactResult> {
    const [only] = actions;
    if (actions.length !== 1 || only?.kind !== 'put') return this.#table.transact(actions);
    return (await this.#table.put(only.row, only.condition)) ? { ok: true } : { ok: false, failures: [{ index: 0, old: null }] };
  }

  #object<T extends ObjectType>(type: T, before: Managed | null, after: ObjectTypes[T]): Action[] {
    const condition = before === null ? missing('pk') : eq('version', before.version);
    const put: Action = { kind: 'put', row: objectRow(type, after), condition };
    if (type !== 'k8s_cluster') return [put];
    return [put, ...clusterSideWrites(before as K8sCluster | null, after as unknown as K8sCluster, this.#ids)];
  }

  /** What rides along in a transaction, as actions; the settings store uses it too. */
  alsoActions(also: Also): Action[] {
    switch (also.kind) {
      case 'audit':
        return [{ kind: 'put', row: auditRow(also.event) }];
      case 'notice':
        return [noticeAction(also.notice)];
      case 'demand':
        return [this.#demand(also.demand)];
      case 'object':
        return this.#object(also.type, also.before, {
          ...also.after,
          version: (also.before?.version ?? 0) + 1,
        } as unknown as ObjectTypes[typeof also.type]);
    }
  }

  #demand(demand: Demand): Action {
    return { kind: 'put', row: enqueueRunRow(enqueueRunOf(demand)), condition: missing('pk') };
  }
}
