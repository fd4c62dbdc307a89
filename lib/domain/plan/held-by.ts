import type { BlockerCode } from '../shared/rollout.ts';
import { CANARY_REVIEW } from '../wave/transitions.ts';
import type { Plan, PlanFacts } from './facts.ts';
import { calendarOpen } from './holds.ts';

export type HeldBy = { readonly [C in BlockerCode | 'parked']?: number };

/**
 * What a decision leaves waiting and by what, for the log: from counts alone, no item is read for it. `parked` are those that were put aside by
 * earlier decisions, whose reasons stand on the items. What each item waits for in full is `holdsOf`.
 */
export function heldBy(facts: PlanFacts, { dispatch, park, skip, status }: Plan): HeldBy {
  const held: { [C in BlockerCode | 'parked']?: number } = {};
  const add = (code: BlockerCode | 'parked', n: number): void => {
    if (n > 0) held[code] = (held[code] ?? 0) + n;
  };
  let ready = 0;
  for (const calendar of facts.calendars) {
    if (calendarOpen(facts, calendar)) ready += calendar.ready;
    else add(calendar.frozen_until === null ? 'window_closed' : 'freeze', calendar.ready);
  }
  for (const { reason } of park) add(reason, 1);
  const moved = [...dispatch, ...park, ...skip];
  const fromReady = moved.filter(({ item }) => item.parked_until === null).length;
  add(wholeWave(facts, status?.to ?? facts.wave.status) ?? places(facts), ready - fromReady);
  const before = facts.wave.counters.pending - facts.calendars.reduce((sum, c) => sum + c.ready, 0);
  add('parked', before - (moved.length - fromReady));
  return held;
}

function wholeWave({ platform_paused, wave }: PlanFacts, status: PlanFacts['wave']['status']): BlockerCode | null {
  if (platform_paused !== null) return 'platform_paused';
  if (status === 'blocked') return 'wave_blocked';
  if (status === 'cancelled') return 'wave_cancelled';
  if (status === 'paused') return wave.status_reason === CANARY_REVIEW ? 'canary_review' : 'wave_paused';
  return wave.enqueue_runs.length > 0 ? 'enqueue_running' : null;
}

const places = ({ gate }: PlanFacts): BlockerCode => (gate !== null && gate.updating >= gate.places ? 'canary_gate' : 'no_free_slot');
