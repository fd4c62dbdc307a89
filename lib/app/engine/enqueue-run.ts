import type { Instant } from '../../domain/shared/time.ts';
import { MINUTE } from '../../domain/shared/time.ts';
import type { Demand } from '../ports.ts';

/** A demand being worked off: targets looked at page by page, items made, waves remembered until it is done (SPEC §2.9, §3.1). */
export interface EnqueueRun extends Demand {
  readonly status: 'open' | 'done';
  /** Configs it speaks for, fixed when it starts; empty until then. */
  readonly configs: readonly string[];
  /** Waves it has added to: they start nothing until it is done. */
  readonly waves: readonly string[];
  readonly enqueued: number;
  readonly looked_at: number;
  /** The tick starts it again when it is still open then. */
  readonly look_again_at: Instant;
  readonly finished_at: Instant | null;
  /** Starts so far; part of the execution's name. */
  readonly generation: number;
  /** Pages handed out by earlier executions; a large fleet takes several. */
  readonly page_offset: number;
  /** Kind `manual`: the wave made for it (SPEC §3.10). */
  readonly manual_wave: string | null;
  /** Kind `schedule`: `late: due …` of a fire that was missed at its time (SPEC §4). */
  readonly late: string | null;
  readonly version: number;
}

/** How long an enqueue run may be silent before the tick takes it up again. */
export const ENQUEUE_PATIENCE = 2 * MINUTE;

export function enqueueRunOf(demand: Demand): EnqueueRun {
  return {
    ...demand,
    status: 'open',
    configs: [],
    waves: [],
    enqueued: 0,
    looked_at: 0,
    look_again_at: demand.created_at + 15_000,
    finished_at: null,
    generation: 0,
    page_offset: 0,
    manual_wave: null,
    late: null,
    version: 1,
  };
}
