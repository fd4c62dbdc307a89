import type { ItemStatus } from '../shared/rollout.ts';
import { type EventOf, type Transition, type TransitionResult, terminalStates, transition } from '../shared/state-machine.ts';

/**
 * SPEC §3.6, §3.9, §7. `stop` is a run ended on request, `withdraw` one that nobody claimed in time (no try is used),
 * `skip_failed` a person's decision that a failed item no longer counts (SPEC §3.5).
 */
export const ITEM_TRANSITIONS = [
  { from: 'pending', event: 'dispatch', to: 'in_progress' },
  { from: 'retrying', event: 'dispatch', to: 'in_progress' },
  { from: 'pending', event: 'skip', to: 'skipped' },
  { from: 'retrying', event: 'skip', to: 'skipped' },
  { from: 'in_progress', event: 'succeed', to: 'completed' },
  { from: 'in_progress', event: 'fail_attempt_with_tries', to: 'retrying' },
  { from: 'in_progress', event: 'fail_final', to: 'failed' },
  { from: 'in_progress', event: 'stop', to: 'skipped' },
  { from: 'in_progress', event: 'withdraw', to: 'pending' },
  { from: 'failed', event: 'retry', to: 'pending' },
  { from: 'failed', event: 'skip_failed', to: 'skipped' },
] as const satisfies readonly Transition<ItemStatus>[];

export type ItemEvent = EventOf<typeof ITEM_TRANSITIONS>;

/** Never change except by an explicit decision of a person (SPEC §12 I6). */
export const TERMINAL_ITEM: readonly ItemStatus[] = terminalStates(ITEM_TRANSITIONS, ['retry', 'skip_failed']);
/** SPEC §2.5: at most one item of a block is in one of these. */
export const ACTIVE_ITEM: readonly ItemStatus[] = ['pending', 'in_progress', 'retrying'];

export function itemTransition(state: ItemStatus, event: ItemEvent): TransitionResult<ItemStatus> {
  return transition(ITEM_TRANSITIONS, state, event);
}
