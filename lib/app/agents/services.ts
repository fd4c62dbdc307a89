import type { K8sCluster } from '../../domain/shared/fleet.ts';
import type { ActionRun, SystemSettings } from '../../domain/shared/rollout.ts';
import type { EngineStore } from '../engine/ports.ts';
import type { AccessKey, Clock, Demand, Ids, Logger, Metrics, ObjectStore } from '../ports.ts';
import type { CallStore } from './call-store.ts';
import type { PresenceStore } from './presence.ts';
import type { WatchStore } from './watch-state.ts';

/** What the agents' side of the program works with. */
export interface AgentServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly objects: ObjectStore;
  readonly presence: PresenceStore;
  readonly runs: RunStore;
  readonly calls: CallStore;
  readonly watch: WatchStore;
  readonly tokens: Tokens;
  readonly engine: EngineCalls;
  /** Settings at most a few seconds old: good enough for report intervals and for when to look twice, never for a decision. */
  readonly recentSettings: () => Promise<SystemSettings>;
  /** Values given out in this run's claim, to be masked in what comes back (SPEC §7). */
  readonly secretsOf: (run: ActionRun) => Promise<readonly string[]>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What a key's text says, before the table is asked. */
export interface Tokens {
  /** null = not one of our keys (form or checksum is wrong). */
  read(token: string): { readonly key_id: string; readonly hash: string } | null;
  /** The stored key was made from this text. */
  proves(token: string, key: AccessKey): boolean;
}

export type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failed'; readonly reason: string; readonly exit_code: number | null }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'withdrawn' }
  /** The target is archived or deleted (SPEC §2.8). */
  | { readonly kind: 'gone' };

export interface EndAttempt {
  readonly run_id: string;
  readonly attempt: number;
  readonly outcome: Outcome;
  /** The run that the decision was made on; in another phase it is not ended (`changed: false`, with the run as it is). */
  readonly run?: ActionRun;
  /** What the agent reports now; left out = nobody has said. */
  readonly installed_version?: string | null;
}

/** A cluster and where it is. */
export type ClusterPlace = Pick<K8sCluster, 'id' | 'organization' | 'workspace'>;

/** The engine as the agents' side calls it. */
export interface EngineCalls {
  /** One transaction over run, item, counters, inbox, block and gate; `changed: false` when the attempt had ended or moved on before. */
  endAttempt(end: EndAttempt): Promise<{ readonly changed: boolean; readonly run: ActionRun }>;
  /** A message about an attempt that is over: whoever wrote its end may have died before telling anybody. */
  toldAgain(run: ActionRun): Promise<void>;
  /** Items of this cluster that were held for one of these reasons are looked at now. */
  unparkCluster(cluster: ClusterPlace, codes: readonly string[]): Promise<void>;
  /** A demand was committed with a change; best effort, the tick takes up what was left. */
  demandWritten(demand: Demand): Promise<void>;
}

export type RunStore = Pick<EngineStore, 'run' | 'commit' | 'config' | 'log' | 'saveLog' | 'dueRuns'>;
