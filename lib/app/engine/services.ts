import type { PresenceStore } from '../agents/presence.ts';
import type { BoardStore } from '../operator/board.ts';
import type { ListStore } from '../paging.ts';
import type { Clock, Ids, Logger, Metrics, ObjectStore, Scheduler, SettingsStore, WorkflowStarter } from '../ports.ts';
import type { ScheduleStore } from '../schedules/ports.ts';
import type { EngineStore } from './ports.ts';
import type { Renderer } from './renderer.ts';

/** What the engine's use cases work with. */
export interface EngineServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly objects: ObjectStore;
  readonly settings: SettingsStore;
  readonly engine: EngineStore;
  readonly lists: ListStore;
  readonly board: BoardStore;
  readonly presence: PresenceStore;
  readonly workflows: WorkflowStarter;
  readonly scheduler: Scheduler;
  readonly schedules: ScheduleStore;
  readonly renderer: Renderer;
  /** Does `work` soon, once however often it is asked for meanwhile; at once where nothing runs between two calls (Lambda). */
  readonly soon: (name: string, work: () => Promise<void>) => Promise<void>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** [0, 1): jitter of retries, nothing else. */
  readonly random: () => number;
  /** SHA-256 in base64url. */
  readonly digest: (text: string) => string;
  /** Hash of the deployed wave definition; null where no other can be running. */
  readonly definition: string | null;
}
