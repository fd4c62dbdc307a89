import {
  type Attempted,
  type Beat,
  type Binding,
  encodeInboxRun,
  type InboxRun,
  type Presence,
  type PresencePage,
  type PresenceStore,
} from '../../app/agents/presence.ts';
import type { AuditEvent, Create } from '../../app/ports.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { Table } from './client.ts';
import { and, type Condition, eq, exists, gte, missing, or } from './expression.ts';
import { keys } from './keys.ts';
import { auditRow } from './object-store.ts';
import { agentPlaceRow, NO_CLUSTER, PRESENCE, presenceOf } from './presence-row.ts';
import type { Action } from './transact.ts';

const A = PRESENCE;

export class DynamoPresenceStore implements PresenceStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async beat(beat: Beat, alive_since: Instant): Promise<Attempted> {
    const unchanged = beat.apps === null ? [] : [eq(A.apps, beat.apps)];
    const quiet = [missing(A.downtime), gte(A.lastSeen, alive_since), ...unchanged];
    const set = { [A.lastSeen]: beat.now, [A.version]: beat.version, [A.health]: beat.health };
    return this.#table.units.within('heartbeat', () => this.#update(beat.agent, { set }, and(...sameAgent(beat), ...quiet)));
  }

  async settle(beat: Beat, closed: string | null): Promise<Attempted> {
    const set = {
      [A.lastSeen]: beat.now,
      [A.version]: beat.version,
      [A.health]: beat.health,
      ...(beat.apps === null ? {} : { [A.apps]: beat.apps }),
      ...(closed === null ? {} : { [A.downtime]: null }),
    };
    return this.#update(beat.agent, { set }, and(...sameAgent(beat)));
  }

  async bind(b: Binding, row: Presence | null): Promise<Attempted> {
    // Before the row itself: a place without an agent lists nobody. Whoever was bound once has one.
    if (row?.cluster_uid == null) await this.#table.put(agentPlaceRow(b, b.agent));
    const set = {
      entity: 'agent',
      [A.organization]: b.organization,
      [A.workspace]: b.workspace,
      [A.cluster]: b.k8s_cluster,
      [A.kind]: b.kind,
      [A.reportedAgentId]: b.reported_agent_id,
      [A.keyId]: b.key_id,
      [A.keyHash]: b.key_hash,
      [A.host]: b.cluster_uid,
      [A.pausedUntil]: b.paused_until,
      [A.revoked]: null,
    };
    return this.#update(
      b.agent,
      { set, default: { [A.inbox]: {}, [A.registeredAt]: b.now } },
      or(missing(A.host), eq(A.host, b.cluster_uid)),
    );
  }

  async unbind(agent: string, audit: Create<AuditEvent>): Promise<boolean> {
    const update = { remove: [A.host, A.keyHash] };
    const freed: Action = { kind: 'update', key: keys.presence(agent), update, condition: exists(A.reportedAgentId) };
    return (await this.#table.transact([freed, { kind: 'put', row: auditRow(audit) }])).ok;
  }

  async get(agent: string, consistent = false): Promise<Presence | null> {
    const row = await this.#table.get(keys.presence(agent), consistent);
    return row === null ? null : presenceOf(row);
  }

  async getMany(agents: readonly string[]): Promise<Presence[]> {
    return (await this.#table.getMany(agents.map((agent) => keys.presence(agent)))).map(presenceOf);
  }

  async listIds(where: { organization: string; workspace: string; k8s_cluster?: string | null }): Promise<string[]> {
    const path = where.k8s_cluster === undefined ? [where.workspace] : [where.workspace, where.k8s_cluster ?? NO_CLUSTER];
    const rows = await this.#table.queryAll({ pk: keys.agentPlaces(where.organization), begins: keys.listingPrefix(path) });
    return rows.map((row) => row.sk.slice(row.sk.lastIndexOf('#') + 1));
  }

  async setPause(agents: readonly string[], paused_until: Instant | null): Promise<void> {
    const update = { set: { [A.pausedUntil]: paused_until } };
    await Promise.all(agents.map((agent) => this.#table.update(keys.presence(agent), update, exists('pk'))));
  }

  async revoke(agent: string, key_id: string): Promise<void> {
    await this.#table.update(keys.presence(agent), { set: { [A.revoked]: true } }, eq(A.keyId, key_id));
  }

  async requestStop(agent: string, run: string): Promise<void> {
    await this.#table.update(keys.presence(agent), { add: { [A.cancels]: new Set([run]) } }, exists('pk'));
  }

  async forgetStops(agent: string, runs: readonly string[]): Promise<void> {
    if (runs.length === 0) return;
    await this.#table.update(keys.presence(agent), { delete: { [A.cancels]: new Set(runs) } }, exists('pk'));
  }

  async updateInbox(agent: string, run: string, entry: InboxRun): Promise<void> {
    const path = `${A.inbox}.${run}`;
    await this.#table.update(keys.presence(agent), { set: { [path]: encodeInboxRun(entry) } }, exists(path));
  }

  async markDowntime(agent: string, downtime: string, last_seen: Instant): Promise<boolean> {
    const unheard = and(missing(A.downtime), eq(A.lastSeen, last_seen));
    return (await this.#table.update(keys.presence(agent), { set: { [A.downtime]: downtime } }, unheard)).ok;
  }

  async scan(partition: number, cursor: string | null, limit: number): Promise<PresencePage> {
    const pk = keys.presencePartition(partition);
    const page = await this.#table.query({ pk, limit, start: cursor === null ? null : { pk, sk: cursor } });
    const last = page.next === null ? null : String(page.next['sk']);
    return { rows: page.rows.map(presenceOf), cursor: last };
  }

  async #update(agent: string, update: Parameters<Table['update']>[1], condition: Condition): Promise<Attempted> {
    const answer = await this.#table.update(keys.presence(agent), update, condition, 'ALL_OLD');
    const row = answer.row === null ? null : presenceOf(answer.row);
    return answer.ok ? { ok: true, before: row } : { ok: false, row };
  }
}

const sameAgent = (beat: Beat): Condition[] => [eq(A.keyHash, beat.key_hash), eq(A.host, beat.cluster_uid), missing(A.revoked)];
