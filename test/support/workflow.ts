import { SystemIds } from '../../lib/adapters/system/ids.ts';
import type { Logger } from '../../lib/app/ports.ts';
import { Activity } from '../../local/activity.ts';
import { VirtualClock } from '../../local/clock.ts';
import { type ExecutionLog, LocalEngine, type LoggedExecution, type WorkflowFunction } from '../../local/engine.ts';
import type { ExecutionEnd } from '../../local/execution.ts';
import type { LocalHandler } from '../../local/lambda.ts';

export const START = Date.UTC(2026, 2, 1);
export const WAVE = '0195a000-0000-7000-8000-000000000001';
export const ITEM = '0195a000-0000-7000-8000-0000000000a1';

export type Payload = Record<string, unknown>;
/** What a fake step answers; throwing is a failed function. */
export type Step = (payload: Payload, call: number) => unknown;

export const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

export function memoryLog(rows: LoggedExecution[] = []): ExecutionLog & { rows: Map<string, LoggedExecution> } {
  const map = new Map(rows.map((row) => [row.name, row]));
  return {
    rows: map,
    put: async (execution) => void map.set(execution.name, execution),
    list: async () => [...map.values()],
    remove: async (name) => void map.delete(name),
  };
}

/** The local engine on a virtual clock with functions that answer what a test says; every call is written down as `function` or `function:state`. */
export function engineWith(steps: Partial<Record<string, Step>>, rows: LoggedExecution[] = []) {
  const activity = new Activity();
  const clock = new VirtualClock(START, activity);
  const trace: { step: string; at: number; payload: Payload }[] = [];
  const ends: ExecutionEnd[] = [];
  const executions = memoryLog(rows);
  const fake =
    (name: WorkflowFunction): LocalHandler =>
    async (event) => {
      const payload = event as Payload;
      const state = typeof payload['state'] === 'string' ? `${name}:${payload['state']}` : name;
      const before = trace.filter((entry) => entry.step === state).length;
      trace.push({ step: state, at: clock.now() - START, payload });
      const step = steps[state];
      if (step === undefined) throw new Error(`no answer for ${state}`);
      return step(payload, before);
    };
  const engine: LocalEngine = new LocalEngine({
    clock,
    ids: new SystemIds(clock),
    log: silent,
    activity,
    executions,
    random: () => 1,
    functions: {
      'wave-plan': fake('wave-plan'),
      'wave-dispatch': fake('wave-dispatch'),
      'wave-await': fake('wave-await'),
      'wave-end': fake('wave-end'),
      'enqueue-plan': fake('enqueue-plan'),
      'enqueue-page': fake('enqueue-page'),
      'execution-watch': async (event) => {
        ends.push((event as { detail: ExecutionEnd }).detail);
      },
    },
  });
  return { engine, clock, activity, trace, ends, executions, steps: () => trace.map((entry) => entry.step) };
}

/** A PlanWave answer; what a test does not care about is filled in. */
export const plan = (next: string, more: Payload = {}): Payload => ({
  next,
  block_rollout: WAVE,
  generation: 1,
  execution: `wave-${WAVE}-g1`,
  turn: 1,
  events: 20,
  batches: [],
  max_concurrency: 4,
  wait_seconds: 60,
  recheck_at: new Date(START + 60_000).toISOString(),
  seen: '0',
  cause: '',
  ...more,
});

export const batch = (...items: string[]): Payload => ({
  orders: items.map((item) => ({ item, agent: 'HB#00/a', forced: false, not_after: null, version: null, app: 'app', app_reported: true })),
});

export const resolved = (): Payload => ({ next: 'plan', block_rollout: WAVE, generation: 1, turn: 0, events: 0 });
