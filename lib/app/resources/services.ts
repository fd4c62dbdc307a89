import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { Target } from '../engine/enqueue-targets.ts';
import type { WindowOwner } from '../engine/ports.ts';
import type { Renderer } from '../engine/renderer.ts';
import type { KeyCrypto } from '../keys/format.ts';
import type { AccessKey, Clock, Demand, Ids, Logger, ObjectStore, ObjectType, SettingsStore } from '../ports.ts';
import type { ScheduleStore } from '../schedules/ports.ts';

/** What people's changes of objects work with. */
export interface ResourceServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly objects: ObjectStore;
  readonly settings: SettingsStore;
  readonly renderer: Renderer;
  readonly crypto: KeyCrypto;
  /** Starts the work that a committed change owes; best effort, the tick takes up what was left. */
  readonly demands: { run(demand: Demand): Promise<void> };
  /** Told after each committed change, so that waves which it concerns are looked at and their items re-keyed; best effort. */
  readonly changes: { changed(change: Change): Promise<void> };
  /** Every target that a config covers now, page by page: the same look that makes the items. It need not be saved. */
  readonly scope: { targets(config: BlockRolloutConfig): AsyncIterable<readonly Target[]> };
  /** What fires left behind, and what the scheduler was told. */
  readonly schedules: Pick<ScheduleStore, 'many'>;
  /** Organizations and workspaces that name a window and are not archived. */
  readonly windows: { owners(id: string): Promise<readonly WindowOwner[]> };
  /** A revoked agent key: the heartbeats that came with it end at once. */
  readonly agentKeys: { revoked(key: AccessKey): Promise<void> };
  readonly log: Logger;
}

export interface Change {
  readonly type: ObjectType | 'settings';
  readonly id: string;
  /** Names of the fields (settings: keys) that are different now. */
  readonly fields: readonly string[];
}
