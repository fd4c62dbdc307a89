import { SystemIds } from '../../lib/adapters/system/ids.ts';
import { NunjucksRenderer } from '../../lib/adapters/templates/renderer.ts';
import { configBuilder } from '../../lib/app/import/config-builder.ts';
import type { ImportRow, ImportServices, ImportState, ImportStore, ImportUnit, UnitChange } from '../../lib/app/import/ports.ts';
import type { Demand, Ids, ObjectType, ObjectTypes } from '../../lib/app/ports.ts';
import type { Managed, WindowObject } from '../../lib/domain/shared/fleet.ts';
import type { SystemSettings } from '../../lib/domain/shared/rollout.ts';

/** A crash between two writes. */
export class Crash extends Error {}

const SETTINGS: SystemSettings = {
  revision: 1,
  OPERATOR_BLOCK_VERSION: null,
  OPERATOR_ROLLOUT_PERCENTAGE: 100,
  AGENT_REPORT_INTERVAL_SECONDS: 60,
  AGENT_WARNING_AFTER_SECONDS: 180,
  AGENT_CRITICAL_AFTER_SECONDS: 300,
  RESYNC_MINUTES: 60,
  RETENTION_DAYS: 90,
  AUDIT_RETENTION_DAYS: 400,
  ROLLOUTS_PAUSED: null,
  default_window: null,
  free: {},
};

/** The parts of the table that an import uses, with its conditions; every write can be the last one before a crash. */
export class FakeImports implements ImportStore {
  now = 1_700_000_000_000;
  readonly ids: Ids = new SystemIds({ now: () => this.now, until: () => Promise.resolve() });
  readonly objects = new Map<string, { type: ObjectType; value: Managed }>();
  settings = SETTINGS;
  readonly demands: Demand[] = [];
  readonly archived: string[] = [];
  readonly changes: string[] = [];
  writes = 0;
  /** Throws instead of doing the write of this number; `lost` = after having done it. */
  crashAt: { write: number; lost: boolean } | null = null;
  readonly #pages = new Map<string, string>();
  readonly #rows = new Map<string, ImportRow>();
  readonly #states = new Map<string, ImportState>();

  services(): ImportServices {
    return {
      clock: { now: () => this.now, until: () => Promise.resolve() },
      ids: this.ids,
      objects: {
        getMany: (type, ids) => Promise.resolve(this.#many(type, ids)),
        listIds: (type, where) => Promise.resolve(this.#list(type, where.organization)),
      },
      settings: { read: () => Promise.resolve(this.settings) },
      imports: this,
      configs: configBuilder,
      renderer: new NunjucksRenderer(),
      changed: (change) => Promise.resolve(void this.changes.push(`${change.type} ${change.fields.join(',')}`)),
      demandWritten: () => Promise.resolve(),
      selectorProblem: () => null,
      archive: (type, id) => this.#archive(type, id),
    };
  }

  async #write<T>(work: () => T): Promise<T> {
    this.writes += 1;
    const crash = this.crashAt !== null && this.crashAt.write === this.writes ? this.crashAt : null;
    if (crash?.lost === false) throw new Crash();
    const result = work();
    if (crash !== null) throw new Crash();
    return result;
  }

  #many<T extends ObjectType>(type: T, ids: readonly string[]): Map<string, ObjectTypes[T]> {
    const found = ids.map((id) => this.objects.get(id)).filter((entry) => entry?.type === type);
    return new Map(found.map((entry) => [entry?.value.id ?? '', entry?.value as ObjectTypes[T]]));
  }

  #list(type: ObjectType, organization: string | null) {
    const all = [...this.objects.values()].filter((entry) => entry.type === type);
    const mine = all.filter(({ value }) =>
      type === 'organization' || type === 'block_rollout_config' ? organization === null : orgOf(value) === organization,
    );
    return { ids: mine.map(({ value }) => value.id), cursor: null };
  }

  #archive(type: ObjectType, id: string): Promise<void> {
    return this.#write(() => {
      const entry = this.objects.get(id);
      if (entry === undefined || entry.value.archived) return;
      this.archived.push(`${type} ${entry.value.name}`);
      this.objects.set(id, { type, value: { ...entry.value, archived: true, version: entry.value.version + 1 } });
    });
  }

  savePages(id: string, pages: readonly (readonly ImportUnit[])[]): Promise<void> {
    return this.#write(() => {
      for (const [page, units] of pages.entries()) this.#pages.set(`${id}/${page}`, JSON.stringify(units));
    });
  }

  loadPage(id: string, page: number): Promise<readonly ImportUnit[]> {
    const text = this.#pages.get(`${id}/${page}`);
    if (text === undefined) throw new Error(`no page ${page}`);
    return Promise.resolve(JSON.parse(text) as ImportUnit[]);
  }

  get(id: string): Promise<ImportRow | null> {
    return Promise.resolve(this.#rows.get(id) ?? null);
  }

  due(now: number, limit: number): Promise<readonly string[]> {
    const open = [...this.#rows.values()].filter((row) => row.status === 'running' && row.look_again_at <= now);
    return Promise.resolve(open.slice(0, limit).map((row) => row.id));
  }

  put(before: ImportRow | null, after: ImportRow, also: Parameters<ImportStore['put']>[2] = []): Promise<boolean> {
    return this.#write(() => {
      if ((this.#rows.get(after.id)?.version ?? null) !== (before?.version ?? null)) return false;
      this.#rows.set(after.id, structuredClone({ ...after, version: (before?.version ?? 0) + 1 }));
      for (const one of also) if (one.kind === 'demand') this.demands.push(one.demand);
      return true;
    });
  }

  states(units: readonly string[]): Promise<Map<string, ImportState>> {
    return Promise.resolve(
      new Map(units.flatMap((id) => [this.#states.get(id)].filter((s) => s !== undefined).map((s) => [id, s] as const))),
    );
  }

  async apply(changes: readonly UnitChange[]): Promise<readonly boolean[]> {
    const answers: boolean[] = [];
    for (const change of changes) answers.push(await this.#write(() => this.#applyOne(change)));
    return answers;
  }

  #applyOne({ state, objects, settings }: UnitChange): boolean {
    const versions = [
      [this.#states.get(state.after.id)?.version, state.before?.version],
      ...objects.map(({ before, after }) => [this.objects.get(after.id)?.value.version, before?.version]),
      ...(settings === null ? [] : [[this.settings.revision, settings.before.revision]]),
    ];
    if (versions.some(([stored, read]) => stored !== read)) return false;
    this.#states.set(state.after.id, structuredClone(state.after));
    for (const { type, before, after } of objects)
      this.objects.set(after.id, { type, value: { ...after, version: (before?.version ?? 0) + 1 } });
    if (settings !== null) this.settings = { ...settings.after, revision: settings.before.revision + 1 };
    return true;
  }

  /** What a person does through the API. */
  edit<T extends ObjectType>(type: T, name: string, patch: Partial<ObjectTypes[T]>): void {
    const entry = [...this.objects.values()].find((one) => one.type === type && one.value.name === name);
    if (entry === undefined) throw new Error(`no ${type} ${name}`);
    this.objects.set(entry.value.id, { type, value: { ...entry.value, ...patch, version: entry.value.version + 1 } });
  }

  find<T extends ObjectType>(type: T, name: string): ObjectTypes[T] {
    const entry = [...this.objects.values()].find((one) => one.type === type && one.value.name === name);
    if (entry === undefined) throw new Error(`no ${type} ${name}`);
    return entry.value as ObjectTypes[T];
  }

  windowOf(owner: { readonly maintenance_window: string | null }): WindowObject | undefined {
    const id = owner.maintenance_window ?? '';
    return this.#many('maintenance_window', [id]).get(id);
  }

  /** Everything that the table holds, to compare two ends. */
  contents(): unknown {
    const values = [...this.objects.values()].map(({ type, value }) => ({ type, ...value, version: 0, created_at: 0, updated_at: 0 }));
    return { values: values.sort((a, b) => a.id.localeCompare(b.id)), settings: { ...this.settings, revision: 0 } };
  }
}

const orgOf = (value: object): unknown => ('organization' in value ? value.organization : null);
