import { isEnqueueRunId } from '../../contracts/workflow/names.ts';
import { type Instant, MINUTE } from '../../domain/shared/time.ts';
import { findConfig } from '../engine/config-list.ts';
import type { EngineServices } from '../engine/services.ts';
import { invalid } from '../errors.ts';
import { type FireOutcome, fireAt } from './fire.ts';

/** What the scheduler calls with, or a person by hand; a courier's word is looked at, never trusted (DESIGN §5). */
export interface TriggerCall {
  readonly rollout_config: string;
  /** The minute that was meant; null where the scheduler did not say. */
  readonly scheduled_for: Instant | null;
}

/** From a function that may start nothing itself (DESIGN §6): the row of this enqueue run is committed, its work may begin. */
export interface StartCall {
  readonly enqueue_run: string;
}

const EXPECTED = 'Expected {"rollout_config": "<id or name>", "scheduled_time": "2026-11-27T22:00:00Z"}; scheduled_time may be left out.';

/** Without a time that can be read (left out, or the placeholder that an engine did not fill in) the minute of arrival counts. */
export function readTriggerCall(event: unknown): TriggerCall | StartCall {
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw invalid(null, `The input of the trigger is not an object. ${EXPECTED}`);
  const { rollout_config, scheduled_time, enqueue_run } = event as Record<string, unknown>;
  if (typeof enqueue_run === 'string' && isEnqueueRunId(enqueue_run)) return { enqueue_run };
  if (typeof rollout_config !== 'string' || rollout_config === '')
    throw invalid('rollout_config', `The input of the trigger names no rollout config as text. ${EXPECTED}`);
  return { rollout_config, scheduled_for: instantOf(scheduled_time) };
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;

function instantOf(text: unknown): Instant | null {
  const at = typeof text === 'string' && ISO.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

export type TriggerOutcome = FireOutcome | { readonly fired: false; readonly why: 'unknown_config' };

/** A doubled call is the same execution; one of a run that is no more looks at nothing. A start that fails is tried again, here and by the tick. */
export async function startRun(services: EngineServices, { enqueue_run }: StartCall): Promise<{ readonly started: boolean }> {
  return { started: (await services.workflows.startEnqueue({ enqueue_run, generation: 1 })) === 'started' };
}

/** SPEC §4: a call at a minute that our own function does not name does nothing; why not is in the log and in the answer. */
export async function trigger(services: EngineServices, call: TriggerCall): Promise<TriggerOutcome> {
  const minute = Math.floor((call.scheduled_for ?? services.clock.now()) / MINUTE) * MINUTE;
  const config = await findConfig(services, call.rollout_config);
  const outcome: TriggerOutcome = config === null ? { fired: false, why: 'unknown_config' } : await fireAt(services, config, minute);
  if (!outcome.fired)
    services.log.info('trigger_did_nothing', {
      rollout_config: call.rollout_config.slice(0, 253),
      status: config === null ? 'unknown' : config.archived ? 'archived' : config.active ? 'active' : 'inactive',
      due_at: minute,
      reason: outcome.why,
    });
  return outcome;
}
