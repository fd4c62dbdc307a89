import type { ActionRun } from '../../domain/shared/rollout.ts';
import type { RunLog } from '../engine/ports.ts';
import type { AccessKey } from '../ports.ts';
import type { Presence } from './presence.ts';

/** null = there is no such row, or it was not asked for. */
export interface CallRows {
  readonly key: AccessKey | null;
  readonly run: ActionRun | null;
  readonly agent: Presence | null;
  readonly log: RunLog | null;
}

export interface CallStore {
  /** The rows that an agent's call about a run is judged by, as they are now. */
  rows(of: { readonly key: string; readonly run: string; readonly agent: string | null; readonly log: boolean }): Promise<CallRows>;
}
