import { scheduledFrom } from '../../domain/recurrence/schedule.ts';
import type { Managed } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { type Birth, newManaged } from '../managed.ts';
import type { Ids, ObjectTypes } from '../ports.ts';
import { type Difference, difference, type Hashes, hashesOf, isSame } from './diff.ts';
import {
  type ConfigBuilder,
  type ImportChild,
  type ImportRecord,
  type ImportState,
  type ImportUnit,
  MAX_WRITES,
  type ObjectWrite,
  type Outcome,
  type UnitChange,
} from './ports.ts';
import * as records from './records.ts';

/** What a unit is compared with. */
export interface Existing {
  readonly state: ImportState | null;
  object<T extends StoredKind>(type: T, id: string): ObjectTypes[T] | null;
  readonly settings: SystemSettings;
}
export type StoredKind = 'organization' | 'workspace' | 'k8s_cluster' | 'k8s_app' | 'block' | 'block_rollout_config' | 'maintenance_window';

export interface Context {
  readonly import: string;
  readonly prune: boolean;
  readonly now: Instant;
  readonly ids: Ids;
  readonly configs: ConfigBuilder;
}

export interface Decision {
  /** null = there is nothing to write. */
  readonly change: UnitChange | null;
  /** Of every record of this part of the unit, as far as it has been decided. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Records that the file no longer has, to be archived before the change is written (prune). */
  readonly gone: readonly { readonly type: 'block' | 'k8s_app'; readonly id: string }[];
  /** More than one transaction holds: decide again after this change. */
  readonly more: boolean;
}

/** The unit's own record in its state. */
export const OWN = '';
export const childKey = (child: Pick<ImportChild, 'kind' | 'id'>): string => `${child.kind}#${child.id}`;

export const windowId = (ids: Ids, owner: string): string => ids.child(owner, 'maintenance_window', 'fleet file');

/** What this import does to a unit, from what is there and what the last import said. Deciding again after a crash gives what is left to do. */
export function decide(unit: ImportUnit, existing: Existing, context: Context): Decision {
  return new Deciding(unit, existing, context).result();
}

class Deciding {
  readonly #unit: ImportUnit;
  readonly #existing: Existing;
  readonly #context: Context;
  readonly #objects: ObjectWrite[] = [];
  readonly #outcomes = new Map<string, Outcome>();
  readonly #state: Record<string, Hashes>;
  #settings: UnitChange['settings'] = null;
  #stateChanged = false;

  constructor(unit: ImportUnit, existing: Existing, context: Context) {
    this.#unit = unit;
    this.#existing = existing;
    this.#context = context;
    this.#state = { ...existing.state?.records };
  }

  result(): Decision {
    if (!this.#unit.further) this.#record(OWN, this.#unit, (diff) => this.#own(diff));
    let more = false;
    for (const child of this.#unit.children) {
      more = this.#objects.length >= MAX_WRITES;
      if (more) break;
      this.#record(childKey(child), child, (diff) => this.#child(child, diff));
    }
    const gone = more ? [] : this.#gone();
    return { change: this.#change(), outcomes: this.#outcomes, gone, more };
  }

  #record(key: string, record: ImportRecord, write: (diff: Difference | null) => Outcome): void {
    const { state } = this.#existing;
    const already = state?.import === this.#context.import ? state.outcomes[key] : undefined;
    if (already !== undefined) {
      this.#outcomes.set(key, already);
      return;
    }
    const last = state?.records[key];
    const now = hashesOf(record.fields);
    const diff = difference(record.fields, now, last ?? {});
    const differs = last === undefined || Object.keys(diff.set).length > 0 || diff.cleared.length > 0;
    this.#outcomes.set(key, write(differs ? diff : null));
    if (!differs) return;
    this.#state[key] = now;
    this.#stateChanged = true;
  }

  #own(diff: Difference | null): Outcome {
    const { kind, id, name, organization, workspace } = this.#unit;
    const birth = { id, name, now: this.#context.now };
    const parents = { organization: organization ?? '', workspace: workspace ?? '', k8s_cluster: null };
    switch (kind) {
      case 'organization':
        return this.#object(
          'organization',
          diff,
          () => records.newOrganization(birth),
          (b, d) => records.organizationWith(b, this.#windowed(d)),
        );
      case 'workspace':
        return this.#object(
          'workspace',
          diff,
          () => records.newWorkspace(birth, parents.organization),
          (b, d) => records.workspaceWith(b, this.#windowed(d)),
        );
      case 'k8s_cluster':
        return this.#object('k8s_cluster', diff, () => records.newCluster(birth, parents), records.clusterWith);
      case 'block_rollout_config':
        return this.#config(diff, birth);
      case 'system_config':
        return this.#systemConfig(diff);
    }
  }

  /** Created with everything the file says when it is not there, else changed where the file differs from the last import. */
  #object<T extends StoredKind>(
    type: T,
    diff: Difference | null,
    birth: () => ObjectTypes[T],
    change: (before: ObjectTypes[T], diff: Difference) => ObjectTypes[T],
    record: ImportRecord = this.#unit,
  ): Outcome {
    const before = this.#existing.object(type, record.id);
    if (before === null) {
      this.#write(type, null, this.#dated(type, null, change(birth(), { set: record.fields, cleared: [] })));
      this.#stateChanged = true;
      return 'created';
    }
    if (diff === null) return 'unchanged';
    const written = this.#objects.length;
    const after = this.#dated(type, before, revived(change(before, diff), this.#knew(record)));
    // A window that was changed is its owner's change.
    if (isSame(before, after)) return this.#objects.length > written ? 'updated' : 'unchanged';
    this.#write(type, before, after);
    return 'updated';
  }

  #dated<T extends StoredKind>(type: T, before: ObjectTypes[T] | null, after: ObjectTypes[T]): ObjectTypes[T] {
    if (type !== 'block_rollout_config') return after;
    return scheduledFrom(before as BlockRolloutConfig | null, after as BlockRolloutConfig, this.#context.now) as ObjectTypes[T];
  }

  /** Archived by a prune (or before any import): back in the file means back in the fleet. Archived by a person since: stays archived. */
  #knew(record: ImportRecord): boolean {
    const key = record === this.#unit ? OWN : childKey(record as ImportChild);
    return this.#existing.state?.records[key] !== undefined;
  }

  #write<T extends StoredKind>(type: T, before: ObjectTypes[T] | null, after: ObjectTypes[T]): void {
    this.#objects.push({ type, before, after });
  }

  #child(child: ImportChild, diff: Difference | null): Outcome {
    const { id, workspace, organization, kind } = this.#unit;
    const birth = { id: child.id, name: child.name, now: this.#context.now };
    const cluster = kind === 'k8s_cluster' ? id : null;
    const parents = { organization: organization ?? '', workspace: workspace ?? '', k8s_cluster: cluster };
    const installed = child.once['installed_version'];
    const version = typeof installed === 'string' ? installed : null;
    if (child.kind === 'block')
      return this.#object('block', diff, () => records.newBlock(birth, parents, version), records.blockWith, child);
    return this.#object(
      'k8s_app',
      diff,
      () => records.newApp(birth, { ...parents, k8s_cluster: id }, version),
      (before) => before,
      child,
    );
  }

  /** A window in the file is an object of its own; its owner refers to it. */
  #windowed(diff: Difference): Difference {
    const window = diff.set['maintenance_window'];
    if (typeof window !== 'object' || window === null) return diff;
    const { id, name, organization, workspace, kind } = this.#unit;
    const own = windowId(this.#context.ids, id);
    const before = this.#existing.object('maintenance_window', own);
    const owner = { organization: organization ?? '', workspace: kind === 'workspace' ? workspace : null };
    const base = before ?? records.newWindow({ id: own, name, now: this.#context.now }, owner);
    // Archived by somebody: the file says that its owner has it, so it is back.
    const after = records.windowWith(revived(base, false), window);
    if (before === null || !isSame(before, after)) this.#write('maintenance_window', before, after);
    return { ...diff, set: { ...diff.set, maintenance_window: own } };
  }

  #config(diff: Difference | null, birth: Birth): Outcome {
    const { configs } = this.#context;
    const born = newManaged(birth);
    return this.#object(
      'block_rollout_config',
      diff,
      () => ({ ...born, ...configs.build(null, {}) }),
      (before, { set, cleared }) => {
        const { managed, rest } = split({ set, cleared });
        const patch = { ...Object.fromEntries(rest.cleared.map((field) => [field, null])), ...rest.set };
        return { ...records.managedWith(before, managed), ...configs.build(before.version === 0 ? null : before, patch) };
      },
    );
  }

  #systemConfig(diff: Difference | null): Outcome {
    if (diff === null) return 'unchanged';
    const before = this.#existing.settings;
    const after = records.settingsWith(before, diff);
    if (isSame(before, after)) return 'unchanged';
    this.#settings = { before, after };
    return 'updated';
  }

  #gone(): { type: 'block' | 'k8s_app'; id: string }[] {
    const { keep } = this.#unit;
    if (!this.#context.prune || keep === null) return [];
    const kept = new Set(keep);
    return Object.keys(this.#state).flatMap((key) => {
      const [type, id] = key.split('#');
      if (id === undefined || kept.has(id)) return [];
      delete this.#state[key];
      this.#outcomes.set(key, 'archived');
      this.#stateChanged = true;
      return [{ type: type === 'block' ? ('block' as const) : ('k8s_app' as const), id }];
    });
  }

  #change(): UnitChange | null {
    if (!this.#stateChanged && this.#objects.length === 0 && this.#settings === null) return null;
    const { state } = this.#existing;
    const before = state?.import === this.#context.import ? state.outcomes : {};
    const done = [...this.#outcomes].filter(([, outcome]) => outcome !== 'unchanged');
    const outcomes = { ...before, ...Object.fromEntries(done) };
    const after = { id: this.#unit.id, version: (state?.version ?? 0) + 1, records: this.#state, import: this.#context.import, outcomes };
    return { state: { before: state, after }, objects: this.#objects, settings: this.#settings };
  }
}

function revived<T extends Managed>(value: T, known: boolean): T {
  return value.archived && !known ? { ...value, archived: false, archived_at: null, archived_reason: null } : value;
}

const isManagedField = (field: string): boolean =>
  field === 'display_name' || field.startsWith('labels/') || field.startsWith('annotations/');

function split({ set, cleared }: Difference): { managed: Difference; rest: Difference } {
  const of = (wanted: boolean): Difference => ({
    set: Object.fromEntries(Object.entries(set).filter(([field]) => isManagedField(field) === wanted)),
    cleared: cleared.filter((field) => isManagedField(field) === wanted),
  });
  return { managed: of(true), rest: of(false) };
}
