import type { Instant } from '../../domain/shared/time.ts';
import type { EnqueueRun } from '../engine/enqueue-run.ts';

/** A named minute that was done. */
export interface Fire {
  readonly due_at: Instant;
  readonly started_at: Instant;
  /** `late: due …`; null when it came in time (SPEC §4). */
  readonly late: string | null;
}

/** What the scheduler was told about a config. */
export interface Told {
  /** Fingerprint of it; null = it has, or shall have, no schedule. */
  readonly told: string | null;
  readonly told_at: Instant | null;
  /** Why it could not be told what it should know; null = it knows. */
  readonly problem: string | null;
}

/** What is kept beside a config that fires, since it changes without anybody changing the config. */
export interface ScheduleState extends Told {
  readonly rollout_config: string;
  readonly last_fire: Fire | null;
}

export interface ScheduleStore {
  /** By config; those without a row are left out. Strong. */
  many(configs: readonly string[]): Promise<Map<string, ScheduleState>>;
  /** Notes the fire and writes its enqueue run, both or neither. False when this minute or a later one was noted before. */
  fire(config: string, fire: Fire, run: EnqueueRun): Promise<boolean>;
  noteTold(config: string, told: Told): Promise<void>;
}
