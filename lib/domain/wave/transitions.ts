import type { WaveStatus } from '../shared/rollout.ts';
import { type EventOf, type Transition, type TransitionResult, terminalStates, transition } from '../shared/state-machine.ts';

/** SPEC §3.2, §3.5, §3.9, §3.12. Blocked is sticky: it ends by cancel, resume or retry only. */
export const WAVE_TRANSITIONS = [
  { from: 'active', event: 'pause', to: 'paused' },
  { from: 'active', event: 'hold_for_review', to: 'paused' },
  { from: 'active', event: 'block', to: 'blocked' },
  { from: 'active', event: 'complete', to: 'completed' },
  { from: 'active', event: 'cancel', to: 'cancelled' },
  { from: 'paused', event: 'resume', to: 'active' },
  { from: 'paused', event: 'block', to: 'blocked' },
  { from: 'paused', event: 'complete', to: 'completed' },
  { from: 'paused', event: 'cancel', to: 'cancelled' },
  { from: 'blocked', event: 'resume', to: 'active' },
  { from: 'blocked', event: 'cancel', to: 'cancelled' },
  { from: 'blocked', event: 'retry', to: 'active' },
  { from: 'completed', event: 'retry', to: 'active' },
  { from: 'cancelled', event: 'retry', to: 'active' },
] as const satisfies readonly Transition<WaveStatus>[];

export type WaveEvent = EventOf<typeof WAVE_TRANSITIONS>;

/** Left by an explicit retry only. */
export const TERMINAL_WAVE: readonly WaveStatus[] = terminalStates(WAVE_TRANSITIONS, ['retry']);
/** SPEC §3.1: an item joins only a wave that is open. */
export const OPEN_WAVE: readonly WaveStatus[] = ['active', 'paused', 'blocked'];

export function waveTransition(state: WaveStatus, event: WaveEvent): TransitionResult<WaveStatus> {
  return transition(WAVE_TRANSITIONS, state, event);
}

/** `status_reason` of a wave that waits for a person after its first batch (SPEC §3.12). */
export const CANARY_REVIEW = 'canary_review';
