import type { NoticeMessage } from '../contracts/events/notice.ts';
import type { LogEvent, LogFields } from '../contracts/telemetry/log-events.ts';
import type { CounterName, DurationName, Gauges } from '../contracts/telemetry/metrics.ts';
import type { Cron } from '../domain/recurrence/cron.ts';
import type {
  Block,
  Json,
  JsonObject,
  K8sApp,
  K8sCluster,
  Maintenance,
  Managed,
  Organization,
  WindowObject,
  Workspace,
} from '../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../domain/shared/rollout.ts';
import type { Instant } from '../domain/shared/time.ts';

/** Time as the program sees it; a test or `--virtual-clock` moves it by hand. */
export interface Clock {
  now(): Instant;
  /** Resolves when the clock has reached the instant; rejects with the signal's reason when aborted. */
  until(at: Instant, signal?: AbortSignal): Promise<void>;
}

/** Fresh, time-ordered ids (UUID v7 at the clock's now). */
export interface Ids {
  fresh(): string;
  /** The one id that a child of this parent with this name can have: a v7 layout whose time is the parent's and whose rest is a hash. */
  child(parent: string, type: string, name: string): string;
}

export interface Downtime extends Managed {
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string;
  readonly kind: 'generic' | 'planned-maintenance' | 'false-positive';
  readonly started_at: Instant;
  readonly ended_at: Instant | null;
  readonly agent: string;
}

/** A key as stored: only its hash, never the key itself. */
export interface AccessKey extends Managed {
  readonly prefix: string;
  readonly secret_hash: string;
  readonly role: 'platform_admin' | 'member' | 'agent';
  readonly access: 'read' | 'read_write';
  readonly organization: string | null;
  readonly workspace: string | null;
  readonly k8s_cluster: string | null;
  readonly expires_at: Instant | null;
  readonly revoked_at: Instant | null;
  readonly last_used_at: Instant | null;
}

export interface AuditEvent extends Managed {
  readonly organization: string | null;
  readonly actor: string;
  readonly action: string;
  readonly object_type: string;
  readonly object_id: string;
  readonly before: Json;
  readonly after: Json;
  readonly at: Instant;
}

/** The objects that people create, read, change and archive, by type name. */
export interface ObjectTypes {
  organization: Organization;
  workspace: Workspace;
  k8s_cluster: K8sCluster;
  block: Block;
  k8s_app: K8sApp;
  maintenance: Maintenance;
  maintenance_window: WindowObject;
  downtime: Downtime;
  block_rollout_config: BlockRolloutConfig;
  access_key: AccessKey;
  audit_event: AuditEvent;
}
export type ObjectType = keyof ObjectTypes;

/** Where an object is listed: in its organization's partition, under its parents; `null` = belongs to no organization. */
export interface Listing {
  readonly organization: string | null;
  /** Ids of the parents, outermost first, e.g. [workspace, cluster]; lists can be cut at any of them. */
  readonly path: readonly string[];
}

export interface KeyPage {
  readonly ids: readonly string[];
  /** Pass it back to go on; null at the end. */
  readonly cursor: string | null;
}

export type Create<T extends Managed> = Omit<T, 'version'>;

/** Plain storage of objects: every write is conditional on the version read. */
export interface ObjectStore {
  get<T extends ObjectType>(type: T, id: string, consistent?: boolean): Promise<ObjectTypes[T] | null>;
  /** Missing ones are left out. */
  getMany<T extends ObjectType>(type: T, ids: readonly string[], consistent?: boolean): Promise<Map<string, ObjectTypes[T]>>;
  /** Objects of several types in one consistent read; missing ones are left out. */
  getSome<T extends ObjectType>(
    wanted: Readonly<Record<T, readonly string[]>>,
  ): Promise<{ readonly [K in T]: ReadonlyMap<string, ObjectTypes[K]> }>;
  /** Refused with `conflict` when the id exists. `also` goes into the same transaction. */
  create<T extends ObjectType>(type: T, value: Create<ObjectTypes[T]>, also?: readonly Also[]): Promise<ObjectTypes[T]>;
  /** Conditional on `before.version`; throws `stale` when somebody was faster. */
  replace<T extends ObjectType>(type: T, before: ObjectTypes[T], after: ObjectTypes[T], also?: readonly Also[]): Promise<ObjectTypes[T]>;
  /** Ids in key order (oldest first unless `newest_first`), one partition. */
  listIds(type: ObjectType, where: Listing, options: { cursor?: string | null; limit: number; newest_first?: boolean }): Promise<KeyPage>;
  count(type: ObjectType, where: Listing): Promise<number>;
}

export type NoticeEvent = NoticeMessage['event'];

/** What happened, for people and programs outside: written in the transaction that causes it, delivered afterwards at least once (SPEC §11). */
export interface Notice {
  /** The event id: however often it is delivered, it is one event. */
  readonly id: string;
  readonly event: NoticeEvent;
  readonly at: Instant;
  /** Id of the wave, item or downtime; `platform` for an alert. */
  readonly subject: string;
  /** null = concerns the platform, not one customer. */
  readonly organization: string | null;
  /** One sentence for a person. */
  readonly text: string;
  readonly data: JsonObject;
}

/** Asks the outbox function to deliver what a commit has just written: best effort, since the tick asks again for what was left. */
export interface OutboxStarter {
  /** Ids of the notices, which an index may not show yet; none = whatever is due. */
  start(notices: readonly string[]): Promise<void>;
}

/** Where notices go: a topic on AWS, the terminal here. */
export interface Notifier {
  /** Answers the ids of those that were taken; the others are sent again later. Throws when nothing could be sent. */
  send(messages: readonly NoticeMessage[]): Promise<ReadonlySet<string>>;
}

/** Writes that may ride along in an object's transaction. */
export type Also =
  | { readonly kind: 'notice'; readonly notice: Notice }
  | { readonly kind: 'audit'; readonly event: Create<AuditEvent> }
  | { readonly kind: 'demand'; readonly demand: Demand }
  | { readonly kind: 'object'; readonly type: ObjectType; readonly before: Managed | null; readonly after: Managed };

/** Work that a change owes to reconciliation (SPEC §2.9): written with the change, done after it, kept until done. */
export interface Demand {
  readonly id: string;
  readonly kind: 'reconcile' | 'schedule' | 'manual' | 'resync' | 'import';
  /** The config concerned; null = every reconciliation config that covers the targets. */
  readonly rollout_config: string | null;
  /** Only these clusters / workspaces / organizations; all empty = the config's whole scope. */
  readonly clusters: readonly string[];
  readonly workspaces: readonly string[];
  readonly organizations: readonly string[];
  readonly scheduled_for: Instant | null;
  readonly created_at: Instant;
  readonly allow_downgrade: boolean;
  readonly requested_by: string | null;
}

export interface SettingsStore {
  /** Read fresh (consistent) at each decision. */
  read(): Promise<SystemSettings>;
  /** Conditional on the revision read. */
  write(before: SystemSettings, after: SystemSettings, also: readonly Also[]): Promise<SystemSettings>;
}

/** One line per decision or fault; events and fields are closed lists (contracts/telemetry/log-events). */
export interface Logger {
  info(event: LogEvent, fields?: LogFields): void;
  warn(event: LogEvent, fields?: LogFields): void;
  error(event: LogEvent, fields?: LogFields): void;
}

/** Numbers of what happens (SPEC §11). Nothing here fails or waits: a number that is lost is a number that is lost. */
export interface Metrics {
  count(name: CounterName, by?: number): void;
  /** Milliseconds, as the clock measures them. */
  took(name: DurationName, milliseconds: number): void;
  /** What the minute tick has measured. */
  measured(gauges: Gauges): void;
  /** What was counted since the process began, where one process does everything; null where each function counts for itself. */
  totals(): MetricTotals | null;
}

export interface MetricTotals {
  readonly counters: ReadonlyMap<CounterName, number>;
  readonly durations: ReadonlyMap<DurationName, { readonly count: number; readonly seconds: number }>;
}

/** The gauges of the last tick, for those who ask in between: one row. */
export interface GaugeStore {
  read(): Promise<MeasuredGauges | null>;
  /** Of two at once the later one stays. */
  write(measured: MeasuredGauges): Promise<void>;
}
export interface MeasuredGauges {
  readonly at: Instant;
  readonly gauges: Gauges;
}

/** Starts executions of the two state machines. A name that exists already counts as success. */
export interface WorkflowStarter {
  startWave(input: { block_rollout: string; generation: number }): Promise<'started' | 'exists'>;
  startEnqueue(input: { enqueue_run: string; generation: number }): Promise<'started' | 'exists'>;
  /** "timed out" counts as success: somebody else has woken it. */
  sendWake(token: string): Promise<void>;
}

/** When a config fires, as the scheduler is told. */
export interface ScheduleTimes {
  readonly cron: Cron;
  readonly time_zone: string;
}

/**
 * Calls the trigger function at the minutes that a config's cron names (DESIGN §5). A courier: it may call twice, late, at other minutes or never,
 * and rules hold without it. Every method may be repeated; a failing one has perhaps done a part.
 */
export interface Scheduler {
  /** Of what all schedules have in common besides their times, e.g. whom they call: another one = all have to be put again. */
  readonly revision: string;
  /** The config's schedules are exactly these from now on. */
  put(config: string, times: ScheduleTimes): Promise<void>;
  /** It has none any more. */
  remove(config: string): Promise<void>;
  /** Configs that have more or fewer schedules than these; whether their times are right it does not say. */
  differences(wanted: ReadonlyMap<string, ScheduleTimes>): Promise<readonly string[]>;
}
