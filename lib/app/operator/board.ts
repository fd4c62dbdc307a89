import type { RolloutStatus } from '../../domain/operator/rollout-status.ts';
import type { AppState, RolloutOverride } from '../../domain/shared/fleet.ts';
import type { Blocker, BlockerCode, Item } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';

/** The operator board (DESIGN A4): what the tick has found out about each cluster, packed into few rows, from which lists, search and numbers are served. */

/** What a hold, a status and the order of an item follow from. */
export const BOARD_ITEM = [
  'id',
  'rollout',
  'status',
  'source',
  'rendered_target_version',
  'retry_after',
  'forced',
  'override_freeze',
  'window_bypassed',
  'enqueued_at',
  'dispatched_at',
] as const satisfies readonly (keyof Item)[];
export type BoardItem = Pick<Item, (typeof BOARD_ITEM)[number]>;

export interface BoardPlace {
  readonly cluster_id: string;
  readonly cluster: string;
  readonly workspace_id: string;
  readonly workspace: string;
  readonly organization_id: string;
  readonly organization: string;
}

/** The facts about one cluster that change only when somebody writes: the rest (time, silence, waves, windows) is looked at each time. */
export interface ClusterFacts extends BoardPlace {
  readonly override: RolloutOverride;
  readonly installed_version: string | null;
  /** Of the operator's app, as last reported. */
  readonly app_state: AppState | null;
  readonly cli_managed: boolean;
  readonly has_contact: boolean;
  /** The windows that an item of it would wait for. */
  readonly calendar: string;
  /** The system config's target rendered for this cluster; null where one target serves all. */
  readonly own_target: string | null;
  /** The last item ended failed, for this target. */
  readonly failure: { readonly target_version: string | null } | null;
  readonly item: BoardItem | null;
  /** Where a running attempt stands: verifying, soaking. */
  readonly progress: Blocker | null;
}

/** One cluster on the board, with what was derived when it was last looked at. */
export interface Entry {
  readonly facts: ClusterFacts;
  /** What its agent's row showed when the facts were read: another sign means that they may have changed. */
  readonly sign: string;
  readonly state: AppState | null;
  readonly status: RolloutStatus;
  readonly blockers: readonly BlockerCode[];
  readonly stuck: boolean;
}

/** What the next look compares with, besides the entries. */
export interface BoardMarks {
  readonly desired_version: string | null;
  /** Wave → what tells that items joined it or were skipped. */
  readonly waves: Readonly<Record<string, string>>;
  /** Agents that serve more than their own cluster → sign. */
  readonly helpers: Readonly<Record<string, string>>;
}

export interface Board {
  /** Grows with each look; the condition of the next. */
  readonly revision: number;
  readonly at: Instant;
  readonly marks: BoardMarks;
  /** By organization, workspace and cluster. */
  readonly entries: readonly Entry[];
  /** Clusters that have no row: of archived owners. */
  readonly hidden: readonly string[];
}

/** A cluster that a person has changed since the board was written; `token` tells one change from the next. */
export interface Touch {
  readonly cluster: string;
  readonly token: string;
}

export interface BoardStore {
  read(): Promise<Board | null>;
  /** False when somebody else has written the next one. Parts that are as before are not written again. */
  publish(before: Board | null, next: Omit<Board, 'revision'>): Promise<boolean>;
  /** Oldest first, at most `limit`. */
  touched(limit: number): Promise<readonly Touch[]>;
  touch(cluster: string): Promise<void>;
  /** Forgets those touches that have not been renewed since. */
  settle(touches: readonly Touch[]): Promise<void>;
}
