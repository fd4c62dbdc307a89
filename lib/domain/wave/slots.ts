import { shareOf } from '../shared/percent.ts';

/** SPEC §3.4, §5: `max(1, floor(base × percent / 100))`; none of nothing, and zero percent means hold. */
export function slotsOf(base: number, percent: number): number {
  if (base <= 0 || percent <= 0) return 0;
  return Math.max(1, shareOf(percent, base));
}

export interface SlotUse {
  readonly slots: number;
  readonly in_progress: number;
  /** Still running in older waves of the same config and owner kind. */
  readonly older_in_progress: number;
}

/** What may still start. A lowered limit stops new starts and never running work, so it can be overdrawn. */
export function freeSlots(use: SlotUse): number {
  return Math.max(0, use.slots - use.in_progress - use.older_in_progress);
}
