import type { EnqueueRun } from '../../app/engine/enqueue-run.ts';
import type {
  Commit,
  EngineChange,
  EngineStore,
  GateState,
  OpenWaveKey,
  Refusal,
  RunLog,
  WakeRow,
  WaveState,
  WindowOwner,
} from '../../app/engine/ports.ts';
import { stale } from '../../app/errors.ts';
import type { KeyPage, Notice } from '../../app/ports.ts';
import type { JsonObject, Maintenance } from '../../domain/shared/fleet.ts';
import type { ActionRun, Item, Wave } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { gunzipJson, gzipJson } from './blob.ts';
import type { QueryRequest, Table } from './client.ts';
import { unpackObject } from './codec.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { settingsAre, stepsOf } from './engine-commit.ts';
import { dueAt, itemFrom, newWaveRow, runFrom, runRowDue, waveFrom } from './engine-rows.ts';
import { enqueueRunFrom, enqueueRunRow } from './enqueue-rows.ts';
import { and, eq, exists, lt, missing, or } from './expression.ts';
import { DUE_SHARDS, type DueKind, instantPart, keys } from './keys.ts';
import { type Announce, nobody, noticeAction } from './outbox-rows.ts';
import type { Row } from './row.ts';
import type { Action } from './transact.ts';

const afterHash = (pk: string): string => pk.slice(pk.indexOf('#') + 1);
const idsOf = (rows: readonly Row[]): string[] => rows.map((row) => afterHash(row.pk));
/** Sorts after every id at the same instant. */
const END = '~';

export class DynamoEngineStore implements EngineStore {
  readonly #table: Table;
  readonly #announce: Announce;

  constructor(table: Table, announce: Announce = nobody) {
    this.#table = table;
    this.#announce = announce;
  }

  async commit(change: EngineChange): Promise<Commit> {
    const committed = await this.#commit(change);
    const notices = committed.ok ? (change.notices ?? []) : [];
    if (notices.length > 0) await this.#announce(notices.map(({ id }) => id));
    return committed;
  }

  async #commit(change: EngineChange): Promise<Commit> {
    const steps = stepsOf(change);
    const [only] = steps;
    if (only === undefined) return { ok: true };
    // One row needs no transaction, at half the price.
    if (steps.length === 1 && only.action.kind === 'put')
      return (await this.#table.put(only.action.row, only.action.condition)) ? { ok: true } : { ok: false, refused: [only.refusal] };
    const result = await this.#table.transact(steps.map((s) => s.action));
    if (result.ok) return result;
    return { ok: false, refused: result.failures.flatMap((f) => steps[f.index]?.refusal ?? []) satisfies Refusal[] };
  }

  async wave(id: string): Promise<WaveState | null> {
    return waveFrom(await this.#table.queryAll({ pk: keys.waveRow(id).pk, from: 'C', to: 'W', consistent: true }));
  }

  async claimDriver(id: string, execution: string, generation: number): Promise<boolean> {
    const claim = await this.#table.update(
      keys.waveRow(id),
      { set: { driver: execution, generation } },
      and(exists('pk'), or(lt('generation', generation), missing('generation'), eq('driver', execution))),
    );
    return claim.ok;
  }

  async openWave(key: OpenWaveKey): Promise<string | null> {
    const row = await this.#table.get(keys.openWave(key.config, key.owner, key.hash), true);
    return (row?.['wave'] as string | undefined) ?? null;
  }

  async runningWaves(config: string | null, owner: string | null): Promise<readonly string[]> {
    return this.#running(config, keys.runningWave(config, owner, '').sk);
  }

  async runningWavesOfConfig(config: string | null): Promise<readonly string[]> {
    return this.#running(config, 'WAVE#');
  }

  async #running(config: string | null, begins: string): Promise<string[]> {
    const rows = await this.#table.queryAll({ pk: keys.group(config), begins, consistent: true });
    return rows.map((row) => row.sk.slice(row.sk.lastIndexOf('#') + 1)).sort();
  }

  async createWave(wave: Wave, key: OpenWaveKey, settings_revision: number, opened: Notice): Promise<'created' | 'exists' | 'outdated'> {
    const open = keys.openWave(key.config, key.owner, key.hash);
    const actions: Action[] = [
      { kind: 'check', key: keys.settings(), condition: settingsAre(settings_revision) },
      { kind: 'put', row: newWaveRow(wave), condition: missing('pk') },
      { kind: 'put', row: { ...keys.runningWave(wave.rollout_config, wave.owner_kind, wave.id), entity: 'running_wave' } },
      { kind: 'put', row: { ...open, entity: 'open_wave', wave: wave.id }, condition: missing('pk') },
      noticeAction(opened),
    ];
    const made = await this.#table.transact(actions);
    if (made.ok) await this.#announce([opened.id]);
    if (made.ok) return 'created';
    return made.failures.some(({ index }) => index === 0) ? 'outdated' : 'exists';
  }

  async forgetRunningWave(wave: Wave): Promise<void> {
    await this.#table.transact([{ kind: 'delete', key: keys.runningWave(wave.rollout_config, wave.owner_kind, wave.id) }]);
  }

  async reopenRunningWave(wave: Wave): Promise<void> {
    const row = { ...keys.runningWave(wave.rollout_config, wave.owner_kind, wave.id), entity: 'running_wave' };
    await this.#table.transact([{ kind: 'put', row }]);
  }

  async waveOrganizations(wave: string): Promise<readonly string[]> {
    return (await this.#table.queryAll({ pk: keys.waveOrganization(wave, '').pk, consistent: true })).map((row) => row.sk);
  }

  async wavesOfOrganization(organization: string): Promise<readonly string[]> {
    const rows = await this.#table.queryAll({ index: 'gsi1', pk: `WORG@${organization}`, newest_first: true });
    return idsOf(rows);
  }

  waveIds(options: { cursor: string | null; limit: number }): Promise<KeyPage> {
    return this.#keyPage({ index: 'gsi1', pk: keys.listingPartition('block_rollout', null), newest_first: true }, options);
  }

  itemIds(wave: string, organization: string, options: { cursor: string | null; limit: number }): Promise<KeyPage> {
    return this.#keyPage({ index: 'gsi1', pk: keys.itemListing(wave, organization, '').gsi1pk }, options);
  }

  runIds(organization: string, options: { cursor: string | null; limit: number }): Promise<KeyPage> {
    return this.#keyPage({ index: 'gsi1', pk: keys.runListing(organization, '').gsi1pk, newest_first: true }, options);
  }

  async #keyPage(request: QueryRequest, { cursor, limit }: { cursor: string | null; limit: number }): Promise<KeyPage> {
    const page = await this.#table.query({ ...request, limit, start: decodeCursor(cursor) });
    return { ids: idsOf(page.rows), cursor: encodeCursor(page.next) };
  }

  async noteOrganizations(wave: string, organizations: readonly string[]): Promise<void> {
    await Promise.all(
      organizations.map((organization) =>
        this.#table.update(
          keys.waveOrganization(wave, organization),
          { set: { entity: 'wave_organization', ...keys.waveOrganizationListing(organization, wave) } },
          missing('pk'),
        ),
      ),
    );
  }

  async items(ids: readonly string[], consistent = false): Promise<Map<string, Item>> {
    const rows = await this.#table.getMany(
      ids.map((id) => keys.item(id)),
      consistent,
    );
    return new Map(rows.map(itemFrom).map((item) => [item.id, item]));
  }

  async item(id: string): Promise<Item | null> {
    const row = await this.#table.get(keys.item(id), true);
    return row === null ? null : itemFrom(row);
  }

  async runs(ids: readonly string[], consistent = false): Promise<Map<string, ActionRun>> {
    const rows = await this.#table.getMany(
      ids.map((id) => keys.run(id)),
      consistent,
    );
    return new Map(rows.map(runFrom).map((run) => [run.id, run]));
  }

  async run(id: string): Promise<ActionRun | null> {
    const row = await this.#table.get(keys.run(id), true);
    return row === null ? null : runFrom(row);
  }

  async ready(wave: string, calendar: string, limit: number): Promise<readonly string[]> {
    return idsOf((await this.#table.query({ index: 'gsi2', pk: keys.readyLane(wave, calendar), limit })).rows);
  }

  async parkedDue(wave: string, now: Instant, limit: number): Promise<{ ids: readonly string[]; next_at: Instant | null }> {
    const { rows } = await this.#table.query({ index: 'gsi2', pk: keys.parkedLane(wave), limit: limit + 1 });
    const at = (row: Row): Instant => Number(String(row['gsi2sk']).split('#')[0]);
    const due = rows.filter((row) => at(row) <= now);
    const later = rows.find((row) => at(row) > now);
    const cut = due.length > limit ? now : null;
    return { ids: idsOf(due.slice(0, limit)), next_at: later === undefined ? cut : at(later) };
  }

  async waiting(wave: string, limit: number): Promise<readonly string[]> {
    const calendars = await this.#table.queryAll({ pk: keys.waveRow(wave).pk, begins: 'CAL#' });
    const lanes = [...calendars.map((row) => keys.readyLane(wave, row.sk.slice('CAL#'.length))), keys.parkedLane(wave)];
    const found: string[] = [];
    for (const pk of lanes) {
      if (found.length >= limit) break;
      found.push(...idsOf((await this.#table.query({ index: 'gsi2', pk, limit: limit - found.length })).rows));
    }
    return found;
  }

  async dueRuns(now: Instant, limit: number): Promise<readonly string[]> {
    const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => keys.dueRunPartition(shard));
    const ids = (await Promise.all(shards.map((pk) => this.#due(pk, now, limit)))).flat();
    const runs = [...(await this.runs(ids)).values()].filter((run) => run.phase !== 'ended');
    const early = runs.filter((run) => dueAt(run) > now);
    await Promise.all(early.map((run) => this.#table.put(runRowDue(run, dueAt(run)), eq('version', run.version))));
    return runs.filter((run) => dueAt(run) <= now).map((run) => run.id);
  }

  dueWaves(now: Instant, limit: number): Promise<readonly string[]> {
    return this.#dueOf('wave', now, limit);
  }

  async dueEnqueueRuns(now: Instant, limit: number): Promise<readonly string[]> {
    return (await this.#dueOf('enqueue', now, limit)).map(decodeURIComponent);
  }

  #dueOf(kind: DueKind, now: Instant, limit: number): Promise<string[]> {
    return this.#due(keys.duePartition(kind), now, limit);
  }

  async #due(pk: string, now: Instant, limit: number): Promise<string[]> {
    return idsOf((await this.#table.query({ index: 'gsi2', pk, to: `${instantPart(now)}#${END}`, limit })).rows);
  }

  async maintenancesEndingAfter(now: Instant): Promise<readonly string[]> {
    return idsOf(await this.#table.queryAll({ index: 'gsi2', pk: keys.duePartition('maintenance'), from: instantPart(now + 1) }));
  }

  async unsettledMaintenances(): Promise<readonly { maintenance: Maintenance; marked: boolean }[]> {
    const rows = await this.#table.queryAll({ index: 'gsi2', pk: keys.duePartition('maintenance') });
    const marked = new Set(idsOf(rows.filter((row) => row.sk === 'MARK')));
    const found = await this.#table.getMany(idsOf(rows).map((id) => keys.object('maintenance', id)));
    return found.map((row) => unpackObject('maintenance', row)).map((maintenance) => ({ maintenance, marked: marked.has(maintenance.id) }));
  }

  async settleMaintenance(id: string, marked: boolean, over: boolean): Promise<void> {
    const mark = keys.maintenanceMark(id);
    const lane = keys.due('maintenance', 0, id);
    await this.#table.transact([
      marked ? { kind: 'put', row: { ...mark, ...lane, entity: 'maintenance_mark' } } : { kind: 'delete', key: mark },
      ...(over
        ? [
            {
              kind: 'update' as const,
              key: keys.object('maintenance', id),
              update: { remove: ['gsi2pk', 'gsi2sk'] },
              condition: exists('pk'),
            },
          ]
        : []),
    ]);
  }

  duePauses(now: Instant, limit: number): Promise<readonly string[]> {
    return this.#dueOf('pause', now, limit);
  }

  async blocksFrom(from_block: string, organization: string, path: readonly string[]): Promise<readonly string[]> {
    const pk = keys.fromBlockPartition(from_block, organization);
    return idsOf(await this.#table.queryAll({ index: 'gsi2', pk, begins: keys.listingPrefix(path) }));
  }

  async windowOwners(window: string): Promise<readonly WindowOwner[]> {
    const rows = await this.#table.queryAll({ index: 'gsi2', pk: keys.windowUserPartition(window) });
    return rows.map(({ pk }) => ({ type: pk.startsWith('workspace#') ? 'workspace' : 'organization', id: afterHash(pk) }));
  }

  async gate(): Promise<GateState> {
    const rows = await this.#table.queryAll({ pk: keys.gate().pk, consistent: true });
    const row = rows.find((r) => r.sk === 'G');
    if (row === undefined) await this.#table.update(keys.gate(), { default: { started: 0, entity: 'gate' } });
    const ended = rows.filter((r) => r.sk !== 'G').reduce((sum, r) => sum + ((r['ended'] as number | undefined) ?? 0), 0);
    return { started: (row?.['started'] as number | undefined) ?? 0, ended };
  }

  async fleet(): Promise<{ clusters: number; paused: number }> {
    const row = await this.#table.get(keys.fleet(), true);
    return { clusters: (row?.['clusters'] as number | undefined) ?? 0, paused: (row?.['paused'] as number | undefined) ?? 0 };
  }

  async enqueueRun(id: string): Promise<EnqueueRun | null> {
    const row = await this.#table.get(keys.enqueueRun(id), true);
    return row === null ? null : enqueueRunFrom(row);
  }

  async putEnqueueRun(run: EnqueueRun, before: EnqueueRun | null): Promise<boolean> {
    const row = enqueueRunRow({ ...run, version: (before?.version ?? 0) + 1 });
    const condition = before === null ? missing('pk') : eq('version', before.version);
    return (await this.#table.transact([{ kind: 'put', row, condition }])).ok;
  }

  async noteEnqueued(id: string, wave: string | null, enqueued: number, looked_at: number, look_again_at: Instant): Promise<void> {
    const noted = await this.#table.update(
      keys.enqueueRun(id),
      {
        set: keys.due('enqueue', look_again_at, id),
        add: { version: 1, enqueued, looked_at, ...(wave === null ? {} : { waves: new Set([wave]) }) },
      },
      eq('status', 'open'),
    );
    if (!noted.ok) throw stale(`Enqueue run ${id} is finished already.`);
  }

  async wakeRow(wave: string): Promise<WakeRow | null> {
    const row = await this.#table.get(keys.wake(wave), true);
    if (row === null) return null;
    const { token, driver, seen, woken_at } = row as unknown as WakeRow;
    return { token, driver, seen, woken_at: woken_at ?? null };
  }

  async setWake(wave: string, row: Omit<WakeRow, 'woken_at'>): Promise<void> {
    await this.#table.update(keys.wake(wave), { set: { entity: 'wake', ...row, woken_at: null } });
  }

  async takeWake(wave: string, token: string, now: Instant): Promise<boolean> {
    const taken = await this.#table.update(keys.wake(wave), { set: { woken_at: now } }, and(eq('token', token), missing('woken_at')));
    return taken.ok;
  }

  async clearWake(wave: string): Promise<void> {
    await this.#table.transact([{ kind: 'delete', key: keys.wake(wave) }]);
  }

  async saveConfig(item: string, config: JsonObject, keepUntil: Instant): Promise<void> {
    await this.#saveBlob(keys.renderedConfig(item), 'rendered_config', config, keepUntil);
  }

  async config(item: string): Promise<JsonObject | null> {
    return this.#blob<JsonObject>(await this.#table.get(keys.renderedConfig(item), true));
  }

  async saveLog(run: string, log: RunLog, keepUntil: Instant): Promise<void> {
    await this.#saveBlob(keys.runLog(run), 'run_log', log, keepUntil);
  }

  async log(run: string): Promise<RunLog | null> {
    return this.#blob<RunLog>(await this.#table.get(keys.runLog(run)));
  }

  async #saveBlob(key: { pk: string; sk: string }, entity: string, value: object, keepUntil: Instant): Promise<void> {
    await this.#table.put({ ...key, entity, body: await gzipJson(value), expires_at: Math.ceil(keepUntil / 1000) });
  }

  async #blob<T>(row: Row | null): Promise<T | null> {
    return row === null ? null : ((await gunzipJson(row['body'] as Uint8Array)) as T);
  }
}
