import type * as z from 'zod';
import type { Json, Managed } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { Renderer } from '../engine/renderer.ts';
import type { Also, Clock, Demand, Ids, ObjectStore, ObjectType, SettingsStore } from '../ports.ts';

/** What an import counts (SPEC §13), in the order in which the file names them. */
export const IMPORT_KINDS = [
  'organization',
  'workspace',
  'k8s_cluster',
  'k8s_app',
  'block',
  'block_rollout_config',
  'system_config',
] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

export type Outcome = 'created' | 'updated' | 'unchanged' | 'archived';
export type Counts = Readonly<Record<ImportKind, Readonly<Record<Outcome, number>>>>;

/** A record's fields as the file gives them, flat: labels and annotations key by key (`labels/env`), so that a person's own label stays. */
export type Fields = Readonly<Record<string, Json>>;

export interface ImportRecord {
  readonly id: string;
  readonly name: string;
  readonly fields: Fields;
  /** Used only when the record is created (SPEC §13: reports own it). */
  readonly once: Fields;
}

export interface ImportChild extends ImportRecord {
  readonly kind: 'block' | 'k8s_app';
}

/** What is decided and written together: a record with its blocks and apps. */
export interface ImportUnit extends ImportRecord {
  readonly kind: Exclude<ImportKind, 'block' | 'k8s_app'>;
  readonly organization: string | null;
  readonly workspace: string | null;
  readonly children: readonly ImportChild[];
  /** A further part of a unit whose children did not fit on one page: only its children count. */
  readonly further: boolean;
  /** Ids of all its children in the file, on the last part; null on the parts before, where nobody can say what is missing. */
  readonly keep: readonly string[] | null;
}

/**
 * What the last import said about a unit: per record (`''` for the unit itself, `block#<id>`, `k8s_app#<id>` for its children) and per
 * field a short hash of the value. A field is written only where the file differs from this. Up to some 300 KB, well packed by gzip.
 */
export interface ImportState {
  /** The unit's id. */
  readonly id: string;
  readonly version: number;
  readonly records: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The import that wrote it, and what it did to which record: taken over, not repeated, when that import comes here again. */
  readonly import: string;
  readonly outcomes: Readonly<Record<string, Outcome>>;
}

/** Conditional on `before` (null = there is none yet); `after.version` is set by the store. */
export interface ObjectWrite {
  readonly type: ObjectType;
  readonly before: Managed | null;
  readonly after: Managed;
}

/** One unit's writes: all of them or none. At most MAX_WRITES objects. */
export interface UnitChange {
  readonly state: { readonly before: ImportState | null; readonly after: ImportState };
  readonly objects: readonly ObjectWrite[];
  readonly settings: { readonly before: SystemSettings; readonly after: SystemSettings } | null;
}

/** What changed, so that reconciliation looks at it and at nothing else (SPEC §2.9). */
export interface Touched {
  /** A setting, a config, or too many to name: the whole fleet is looked at, and the lists are empty. */
  readonly everything: boolean;
  readonly clusters: readonly string[];
  readonly workspaces: readonly string[];
  readonly organizations: readonly string[];
}

export interface ImportRow {
  readonly id: string;
  readonly status: 'running' | 'completed';
  readonly actor: string;
  readonly prune: boolean;
  readonly created_at: Instant;
  readonly finished_at: Instant | null;
  /** Pages of the body, and the next one to apply. */
  readonly pages: number;
  readonly next_page: number;
  /** Records in the file, and those done. */
  readonly total: number;
  readonly done: number;
  readonly counts: Counts;
  readonly touched: Touched;
  /** Pruning goes through the organizations by id, after the pages: the last one done; '' before the first. */
  readonly pruned_up_to: string;
  /** The tick takes it up again when it is still running then. */
  readonly look_again_at: Instant;
  readonly version: number;
}

/** Storage of imports: progress, body and what was imported last. Reads are strong unless they say otherwise. */
export interface ImportStore {
  /**
   * Keeps the pages of the body under (import, page number), each as one row: JSON, gzipped, kept for 7 days. A page has at most 100 records and
   * its JSON at most 350 KB, so a packed row stays under the limit of 400 KB. Written in parallel, plain puts: repeating it changes nothing.
   */
  savePages(id: string, pages: readonly (readonly ImportUnit[])[]): Promise<void>;
  /** One page; throws when it is not there. */
  loadPage(id: string, page: number): Promise<readonly ImportUnit[]>;

  get(id: string): Promise<ImportRow | null>;
  /** Ids of running imports whose look_again_at has passed (may lag). */
  due(now: Instant, limit: number): Promise<readonly string[]>;
  /**
   * Creates (before = null: no such row yet) or replaces (condition: version = before.version; the new row gets version + 1) the row, with what
   * rides along in the same transaction. False when somebody else was faster; then nothing was written. A running row is listed for `due`.
   */
  put(before: ImportRow | null, after: ImportRow, also?: readonly Also[]): Promise<boolean>;

  /** What the last imports said about these units; missing ones are left out. */
  states(units: readonly string[]): Promise<Map<string, ImportState>>;
  /**
   * Writes the changes; each is all or nothing, and the answer says in the same order which were written (true) and which were refused because
   * something had been changed meanwhile (false; the caller reads again and decides again).
   * - objects: before = null → put if there is no such row (version 1); else put if version = before.version (version + 1, updated_at = now)
   * - a created or changed cluster takes its side writes along: presence row, fleet counter
   * - settings: put if the revision is before.revision (revision + 1)
   * - state: put if the state's version is before.version, or if there is none
   * Several changes may share a transaction (≤ 100 actions, the fleet counter once); when such a one is refused, its changes are tried one by one.
   */
  apply(changes: readonly UnitChange[]): Promise<readonly boolean[]>;
}

/** What the import needs of rollout configs: the API's own check, and the object that its fields make. */
export interface ConfigBuilder {
  check(fields: Readonly<Record<string, unknown>>): readonly z.core.$ZodIssue[];
  /** `before` = null: a new one, with the API's defaults; else only these fields are changed, null = the default. The template revision follows. */
  build(before: BlockRolloutConfig | null, patch: Readonly<Record<string, Json>>): Omit<BlockRolloutConfig, keyof Managed>;
}

export interface ImportServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly objects: Pick<ObjectStore, 'getMany' | 'listIds'>;
  readonly settings: Pick<SettingsStore, 'read'>;
  readonly imports: ImportStore;
  readonly configs: ConfigBuilder;
  readonly renderer: Renderer;
  /** What the import changed (not: made anew), so that waves which it concerns are looked at: best effort. */
  changed(change: { readonly type: ObjectType | 'settings'; readonly id: string; readonly fields: readonly string[] }): Promise<void>;
  /** A demand was committed: best effort, the tick takes up what was left. */
  demandWritten(demand: Demand): Promise<void>;
  /** Null when the label selector can be read, else what is wrong with it. */
  selectorProblem(selector: string): string | null;
  /** As the API's archive does it, with all that follows from it (SPEC §2.8); archived before = nothing happens. */
  archive(
    type: 'organization' | 'workspace' | 'k8s_cluster' | 'k8s_app' | 'block' | 'block_rollout_config',
    id: string,
    actor: string,
  ): Promise<void>;
}

/** Objects of one unit that are written in one transaction. */
export const MAX_WRITES = 40;
export const MAX_PAGE_RECORDS = 100;
export const MAX_PAGE_BYTES = 350_000;
