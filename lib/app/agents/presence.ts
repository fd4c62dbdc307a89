import type { AppState } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { AuditEvent, Create } from '../ports.ts';

/** How an agent says that it feels; null when it does not say. */
export type AgentHealth = 'healthy' | 'degraded' | 'unhealthy' | 'critical';

/**
 * One agent, kept in one row of at most 1 KB that each heartbeat rewrites with one update (DESIGN A1). Liveness is not stored: it
 * follows from `last_seen` (SPEC §6).
 */
export interface Presence {
  readonly id: string;
  readonly kind: 'operator' | 'agent';
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string | null;
  readonly reported_agent_id: string;
  /** The access key that the last accepted report came with, and the SHA-256 of its full text (base64url). */
  readonly key_id: string | null;
  readonly key_hash: string | null;
  /** UID of the kube-system namespace that the agent is bound to; '-' for an agent that runs on no cluster. */
  readonly cluster_uid: string | null;
  readonly revoked: boolean;
  /** The cluster is archived or inactive: nothing is expected of it. */
  readonly gone: boolean;
  /** Mirror of the cluster's pause, so that the dispatch can ask this row alone; FOREVER = until resumed. */
  readonly paused_until: Instant | null;
  /** Server receive time of the last report; null = never seen, which is not 1970. */
  readonly last_seen: Instant | null;
  readonly version: string | null;
  readonly health: AgentHealth | null;
  /** What it reported last; null before the first report that named its apps. */
  readonly apps: string | null;
  /** Open runs given to it, by run id. */
  readonly inbox: Readonly<Record<string, InboxRun>>;
  /** Runs it is asked to stop. */
  readonly cancels: readonly string[];
  /** The open Downtime (SPEC §6); closed by the next report. */
  readonly downtime: string | null;
  /** When it registered first; null before. */
  readonly registered_at: Instant | null;
}

/** An agent that has reported at least once. */
export type HeardAgent = Presence & { readonly last_seen: Instant };

/** A pause without an end, as `paused_until`. */
export const FOREVER: Instant = 99_999_999_999_999;
/** `cluster_uid` of an agent that runs on no cluster. */
export const NO_HOST = '-';
/** An agent holds at most so many open runs (DESIGN A1). */
export const INBOX_LIMIT = 8;

export interface InboxRun {
  readonly block: string;
  readonly action: string;
  readonly attempt: number;
  readonly deadline: Instant;
  /** The app whose version tells success, and the version it must show; null = nothing to verify. */
  readonly app: string | null;
  readonly target: string | null;
  /** Exit code 0 has come, the new version has not yet: not handed out any more (SPEC §7). */
  readonly finished: boolean;
}

/** Compact text of one inbox entry: what the dispatch writes under `inbox.<run id>`. */
export const encodeInboxRun = (run: InboxRun): string =>
  JSON.stringify([run.block, run.action, run.attempt, run.deadline, run.app, run.target, run.finished ? 1 : 0]);

export function decodeInboxRun(text: string): InboxRun {
  const [block, action, attempt, deadline, app, target, finished] = JSON.parse(text) as [
    string,
    string,
    number,
    number,
    string?,
    string?,
    number?,
  ];
  return { block, action, attempt, deadline, app: app ?? null, target: target ?? null, finished: finished === 1 };
}

export interface ReportedApp {
  readonly name: string;
  readonly installed_version: string | null;
  readonly state: AppState | null;
}

/** The part of a report that every heartbeat writes. */
export interface Beat {
  readonly agent: string;
  readonly key_hash: string;
  readonly cluster_uid: string;
  readonly now: Instant;
  readonly version: string | null;
  readonly health: AgentHealth | null;
  /** `packApps`; null when the report does not name apps: what was known stays. */
  readonly apps: string | null;
}

export interface Binding {
  readonly agent: string;
  readonly kind: 'operator' | 'agent';
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string | null;
  readonly reported_agent_id: string;
  readonly key_id: string;
  readonly key_hash: string;
  readonly cluster_uid: string;
  readonly paused_until: Instant | null;
  readonly now: Instant;
}

/** `ok: false` carries the row as it is; null = there is none. */
export type Attempted = { readonly ok: true; readonly before: Presence | null } | { readonly ok: false; readonly row: Presence | null };

export interface PresencePage {
  readonly rows: readonly Presence[];
  readonly cursor: string | null;
}

/** Sixteen partitions, walked by the tick (DESIGN A4). */
export const PRESENCE_PARTITIONS = 16;

export interface PresenceStore {
  /**
   * The heartbeat's one write. Holds only when nothing needs more work: same key and host, not revoked, same apps, heard from since
   * `alive_since`, no open Downtime. Otherwise nothing is written and the row comes back.
   */
  beat(beat: Beat, alive_since: Instant): Promise<Attempted>;
  /** The same after the work is done: needs only key and host; forgets the Downtime `closed`. */
  settle(beat: Beat, closed: string | null): Promise<Attempted>;
  /** Binds key and host; refused when the row is bound to another host. `row`: the agent's row as it was last seen, null = none. */
  bind(binding: Binding, row: Presence | null): Promise<Attempted>;
  /** Takes key and host away, so that the next report of any host with a good key registers anew (`rebind`). False = there is no such agent. */
  unbind(agent: string, audit: Create<AuditEvent>): Promise<boolean>;
  get(agent: string, consistent?: boolean): Promise<Presence | null>;
  getMany(agents: readonly string[]): Promise<Presence[]>;
  /** Agents of a workspace; with a cluster only those bound to it (null = those bound to none). */
  listIds(where: { organization: string; workspace: string; k8s_cluster?: string | null }): Promise<string[]>;
  setPause(agents: readonly string[], paused_until: Instant | null): Promise<void>;
  /** Only while the row's key is still this one. */
  revoke(agent: string, key_id: string): Promise<void>;
  requestStop(agent: string, run: string): Promise<void>;
  forgetStops(agent: string, runs: readonly string[]): Promise<void>;
  /** Replaces an inbox entry that is still there. */
  updateInbox(agent: string, run: string, entry: InboxRun): Promise<void>;
  /** Remembers the open Downtime, if the agent has not been heard from since. */
  markDowntime(agent: string, downtime: string, last_seen: Instant): Promise<boolean>;
  scan(partition: number, cursor: string | null, limit: number): Promise<PresencePage>;
}
