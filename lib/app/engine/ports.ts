import type { Block, JsonObject, Maintenance } from '../../domain/shared/fleet.ts';
import type { ActionRun, Item, Wave, WaveStatus } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { AuditEvent, Create, Demand, KeyPage, Notice } from '../ports.ts';
import type { EnqueueRun } from './enqueue-run.ts';

/** A wave as read strongly, with the raw numbers that the counters are made of. */
export interface WaveState {
  readonly wave: Wave;
  /** Only grow: in progress = started − ended (DESIGN §4). `ended` includes done. */
  readonly started: number;
  readonly ended: number;
  /** Waiting items per calendar that are not parked. */
  readonly ready: readonly { readonly calendar: string; readonly count: number }[];
  readonly lag_rounds: number;
}

/**
 * What changes together: written whole or not at all. Items and runs carry what was read; the write is conditional on their version.
 * The wave's counters and ready counts follow from the items' old and new states in this one place, so they cannot drift (SPEC §3.3).
 */
export interface EngineChange {
  readonly items?: readonly { readonly before: Item | null; readonly after: Item }[];
  readonly runs?: readonly { readonly before: ActionRun | null; readonly after: ActionRun }[];
  readonly blocks?: readonly BlockChange[];
  readonly inbox?: readonly InboxChange[];
  readonly waves?: readonly WaveChange[];
  readonly gate?: GateChange;
  /** Nothing in this change may happen while ROLLOUTS_PAUSED is set. */
  readonly unless_platform_paused?: boolean;
  /** The decision was made from this revision of the settings and holds only for it (SPEC §2.7). */
  readonly settings_revision?: number;
  readonly notices?: readonly Notice[];
  /** Work that this change owes to reconciliation: kept with it, until done. */
  readonly demands?: readonly Demand[];
  readonly audits?: readonly Create<AuditEvent>[];
}

/** A block's row: the guard of the one active item (SPEC §2.5), and what an ended item leaves on it. */
export interface BlockChange {
  readonly id: string;
  /** Created with this value when there is no row yet. */
  readonly create?: Block;
  /** Taken: fails when another item is active. */
  readonly take?: string;
  /** Released: only if it is this item's. */
  readonly release?: string;
  readonly set?: Partial<Block>;
}

export interface InboxChange {
  readonly agent: string;
  readonly add?: readonly { readonly run: string; readonly entry: string }[];
  readonly remove?: readonly string[];
  /** With `remove`: the requests to stop them stay until the agent has seen them. */
  readonly keep_cancels?: boolean;
  /** Asks the agent to stop these. */
  readonly cancel?: readonly string[];
  /** For a start: refused when the agent is silent since this instant, its cluster is paused at `now`, gone, or the inbox is full. */
  readonly heard_since?: Instant;
  readonly now?: Instant;
}

export interface WaveChange {
  readonly id: string;
  /** Made together with its first items; refused when it exists. The other fields do not apply then. */
  readonly create?: Wave;
  readonly set?: Partial<
    Pick<
      Wave,
      'status' | 'status_reason' | 'completed_at' | 'canary_reviewed' | 'last_item_added_at' | 'driver' | 'generation' | 'recheck_at'
    >
  > & {
    readonly lag_rounds?: number;
  };
  /** Joins (`+`) or leaves (`-`) the set of enqueue runs that are still adding. */
  readonly enqueue_run?: { readonly add?: string; readonly remove?: string };
  readonly status_in?: readonly WaveStatus[];
  readonly driver?: string;
  /** Dispatch's own bound: started ≤ this before the batch (DESIGN §4). */
  readonly max_started?: number;
  readonly max_failed?: number;
  readonly no_enqueue_runs?: boolean;
  /** The wave must not have got new items since it was read. */
  readonly total_is?: number;
  /** Removes the "open wave" row of this key: nothing joins any more. */
  readonly close?: OpenWaveKey;
  readonly open?: OpenWaveKey;
}

export interface OpenWaveKey {
  readonly config: string | null;
  readonly owner: string | null;
  /** Target version, template revision and action: what all items of a wave have in common. */
  readonly hash: string;
}

export interface GateChange {
  readonly start?: number;
  /** null = forced: counted, not held. */
  readonly max_started?: number | null;
  /** One per ended operator item: its cluster. */
  readonly ends?: readonly string[];
}

export type Refusal = { readonly what: 'item' | 'run' | 'block' | 'inbox' | 'wave' | 'gate' | 'platform' | 'open'; readonly id: string };
export type Commit = { readonly ok: true } | { readonly ok: false; readonly refused: readonly Refusal[] };

export interface GateState {
  readonly started: number;
  readonly ended: number;
}

export interface WakeRow {
  readonly token: string;
  readonly driver: string;
  readonly seen: string;
  readonly woken_at: Instant | null;
}

/** Waves, items, runs and what binds them. Reads are eventual unless they say strong. */
export interface EngineStore {
  commit(change: EngineChange): Promise<Commit>;

  /** Strong; counters, ready counts and row in one Query, the row last. */
  wave(id: string): Promise<WaveState | null>;
  /** Claims the wave for an execution: succeeds when nobody has a later generation. */
  claimDriver(id: string, execution: string, generation: number): Promise<boolean>;
  openWave(key: OpenWaveKey): Promise<string | null>;
  /** Ids of waves of this config and owner kind that may still run something, oldest first. */
  runningWaves(config: string | null, owner: string | null): Promise<readonly string[]>;
  /** Of all owner kinds. */
  runningWavesOfConfig(config: string | null): Promise<readonly string[]>;
  /** With the notice that it was opened. `outdated` = the settings have another revision by now (SPEC §2.7). */
  createWave(wave: Wave, key: OpenWaveKey, settings_revision: number, opened: Notice): Promise<'created' | 'exists' | 'outdated'>;
  forgetRunningWave(wave: Wave): Promise<void>;
  /** A wave that runs again after it was over. */
  reopenRunningWave(wave: Wave): Promise<void>;
  /** Organizations with items in this wave. */
  waveOrganizations(wave: string): Promise<readonly string[]>;
  /** Waves with items of this organization, newest first. */
  wavesOfOrganization(organization: string): Promise<readonly string[]>;
  /** All waves, newest first. */
  waveIds(options: { readonly cursor: string | null; readonly limit: number }): Promise<KeyPage>;
  /** Items of one organization in a wave, oldest first. */
  itemIds(wave: string, organization: string, options: { readonly cursor: string | null; readonly limit: number }): Promise<KeyPage>;
  /** Runs of one organization, newest first. */
  runIds(organization: string, options: { readonly cursor: string | null; readonly limit: number }): Promise<KeyPage>;
  noteOrganizations(wave: string, organizations: readonly string[]): Promise<void>;

  items(ids: readonly string[], consistent?: boolean): Promise<Map<string, Item>>;
  item(id: string): Promise<Item | null>;
  runs(ids: readonly string[], consistent?: boolean): Promise<Map<string, ActionRun>>;
  /** Strong. */
  run(id: string): Promise<ActionRun | null>;
  /** Item ids of one calendar's ready lane, in order of dispatch. */
  ready(wave: string, calendar: string, limit: number): Promise<readonly string[]>;
  /** Parked items whose time has come, and when the next one's comes. */
  parkedDue(wave: string, now: Instant, limit: number): Promise<{ readonly ids: readonly string[]; readonly next_at: Instant | null }>;
  /** All waiting items of a wave, ready or parked, a page of ids. */
  waiting(wave: string, limit: number): Promise<readonly string[]>;

  dueRuns(now: Instant, limit: number): Promise<readonly string[]>;
  dueWaves(now: Instant, limit: number): Promise<readonly string[]>;
  dueEnqueueRuns(now: Instant, limit: number): Promise<readonly string[]>;

  /** Maintenances that are not over yet, drafts left out. */
  maintenancesEndingAfter(now: Instant): Promise<readonly string[]>;
  /** Those not over or not yet settled, with whether their items were put first. */
  unsettledMaintenances(): Promise<readonly { readonly maintenance: Maintenance; readonly marked: boolean }[]>;
  /** Remembers that items were put first (or back); one that is over is not looked at again. */
  settleMaintenance(id: string, marked: boolean, over: boolean): Promise<void>;
  /** Clusters whose pause has ended by itself. */
  duePauses(now: Instant, limit: number): Promise<readonly string[]>;
  /** Blocks whose from_block this is: of a cluster, of a workspace, or of the whole organization. */
  blocksFrom(from_block: string, organization: string, path: readonly string[]): Promise<readonly string[]>;

  /** Organizations and workspaces that name this maintenance window, archived ones left out. */
  windowOwners(window: string): Promise<readonly WindowOwner[]>;

  gate(): Promise<GateState>;
  fleet(): Promise<{ readonly clusters: number; readonly paused: number }>;

  enqueueRun(id: string): Promise<EnqueueRun | null>;
  putEnqueueRun(run: EnqueueRun, before: EnqueueRun | null): Promise<boolean>;
  /** Adds to the numbers and the set of waves, whatever else changed. */
  noteEnqueued(id: string, wave: string | null, enqueued: number, looked_at: number, look_again_at: Instant): Promise<void>;

  wakeRow(wave: string): Promise<WakeRow | null>;
  setWake(wave: string, row: Omit<WakeRow, 'woken_at'>): Promise<void>;
  /** Only the first who asks gets the token. */
  takeWake(wave: string, token: string, now: Instant): Promise<boolean>;
  clearWake(wave: string): Promise<void>;

  saveConfig(item: string, config: JsonObject, keepUntil: Instant): Promise<void>;
  config(item: string): Promise<JsonObject | null>;
  saveLog(run: string, log: RunLog, keepUntil: Instant): Promise<void>;
  log(run: string): Promise<RunLog | null>;
}

export interface WindowOwner {
  readonly type: 'organization' | 'workspace';
  readonly id: string;
}

export interface RunLog {
  readonly stdout: string;
  readonly stderr: string;
  readonly at: Instant;
}
