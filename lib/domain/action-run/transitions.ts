import type { RunStatus } from '../shared/rollout.ts';
import { type EventOf, type Transition, type TransitionResult, terminalStates, transition } from '../shared/state-machine.ts';

/**
 * SPEC §7. `succeed` from pending: a report shows the target although nobody claimed (brought there by hand).
 * `withdraw`: not claimed in time. An ended attempt is never reopened; a retry is a new one.
 */
export const RUN_TRANSITIONS = [
  { from: 'pending', event: 'claim', to: 'running' },
  { from: 'pending', event: 'succeed', to: 'success' },
  { from: 'pending', event: 'time_out', to: 'failed' },
  { from: 'pending', event: 'cancel', to: 'cancelled' },
  { from: 'pending', event: 'withdraw', to: 'cancelled' },
  { from: 'running', event: 'succeed', to: 'success' },
  { from: 'running', event: 'fail', to: 'failed' },
  { from: 'running', event: 'time_out', to: 'failed' },
  { from: 'running', event: 'cancel', to: 'cancelled' },
] as const satisfies readonly Transition<RunStatus>[];

export type RunEvent = EventOf<typeof RUN_TRANSITIONS>;

export const TERMINAL_RUN: readonly RunStatus[] = terminalStates(RUN_TRANSITIONS, []);
/** An attempt that still can be finished. */
export const OPEN_RUN: readonly RunStatus[] = ['pending', 'running'];

export function runTransition(state: RunStatus, event: RunEvent): TransitionResult<RunStatus> {
  return transition(RUN_TRANSITIONS, state, event);
}
