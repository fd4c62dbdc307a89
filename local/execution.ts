import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Clock, Ids } from '../lib/app/ports.ts';
import type { Activity } from './activity.ts';
import { type LocalHandler, localContext } from './lambda.ts';
import type { LocalTask, Retrier } from './local-asl.ts';

export type MachineName = 'wave' | 'enqueue';

export interface ExecutionEnd {
  readonly name: string;
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED';
  readonly error: string | null;
  readonly cause: string | null;
}

/** Stands in the context for `$$.Task.Token`, which the engine cannot make; each task puts its own token in its place. */
export const TOKEN_PLACEHOLDER = 'the token of this task';

const taskInput = z.object({ FunctionName: z.string(), Payload: z.record(z.string(), z.unknown()) });
type TaskInput = z.infer<typeof taskInput>;

export interface ExecutionOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly activity: Activity;
  readonly functions: Readonly<Record<string, LocalHandler>>;
  readonly random: () => number;
  readonly name: string;
  readonly machine: MachineName;
  readonly input: unknown;
  readonly tasks: ReadonlyMap<string, LocalTask>;
  /** Open task tokens of all executions. */
  readonly tokens: Map<string, () => void>;
}

/** One execution: its tasks, their timeouts and back-offs on our clock, and whether it is doing something or only waiting. */
export class Execution {
  readonly name: string;
  readonly machine: MachineName;
  readonly input: unknown;
  finished: Promise<ExecutionEnd | null> = Promise.resolve(null);
  readonly #options: ExecutionOptions;
  readonly #stop = new AbortController();
  readonly #inFlight = new Set<Promise<unknown>>();
  #abortRun: () => void = () => undefined;
  #live = 0;
  #waiting = 0;
  #ended = false;
  #endActivity: (() => void) | null;

  constructor(options: ExecutionOptions) {
    this.#options = options;
    this.name = options.name;
    this.machine = options.machine;
    this.input = options.input;
    this.#endActivity = options.activity.begin();
  }

  isFor(input: unknown): boolean {
    return isDeepStrictEqual(this.input, input);
  }

  onAbort(abort: () => void): void {
    this.#abortRun = abort;
    if (this.#stop.signal.aborted) abort();
  }

  abort(): void {
    // The engine first, or the waits that end now would be caught by the workflow's own Catch.
    this.#abortRun();
    this.#stop.abort(new Error('The workflow engine is stopping.'));
  }

  async settled(): Promise<void> {
    await Promise.allSettled([this.finished, ...this.#inFlight]);
  }

  end(): void {
    this.#ended = true;
    this.#endActivity?.();
    this.#endActivity = null;
  }

  taskHandlers(): Record<string, (input: unknown) => Promise<JsonValue>> {
    return Object.fromEntries(
      [...this.#options.tasks].map(([state, task]) => [
        state,
        async (input: unknown) => asJson(await this.#task(task, taskInput.parse(input))),
      ]),
    );
  }

  async #task(task: LocalTask, input: TaskInput): Promise<{ Payload: unknown }> {
    const tries: number[] = task.retry.map(() => 0);
    this.#count(1, 0);
    try {
      for (;;) {
        try {
          return {
            Payload: task.waitsForToken
              ? await this.#withToken(task, input)
              : await this.#invoke(task, input.Payload, timeoutMs(task, input)),
          };
        } catch (error) {
          const index = task.retry.findIndex((retrier) => matches(retrier, error));
          const retrier = task.retry[index];
          if (retrier === undefined || (tries[index] ?? 0) >= retrier.MaxAttempts || this.#stop.signal.aborted) throw error;
          await this.#waitUntil(this.#options.clock.now() + backoffMs(retrier, tries[index] ?? 0, this.#options.random));
          tries[index] = (tries[index] ?? 0) + 1;
        }
      }
    } finally {
      this.#count(-1, 0);
    }
  }

  /** The function is called with a new token; the task ends with the token's success or at its timeout. */
  async #withToken(task: LocalTask, input: TaskInput): Promise<unknown> {
    const deadline = this.#options.clock.now() + timeoutMs(task, input);
    const token = this.#options.ids.fresh();
    const woken = Promise.withResolvers<'woken'>();
    this.#options.tokens.set(token, () => woken.resolve('woken'));
    try {
      const payload = Object.fromEntries(
        Object.entries(input.Payload).map(([key, value]) => [key, value === TOKEN_PLACEHOLDER ? token : value]),
      );
      await this.#invoke(task, payload, deadline - this.#options.clock.now());
      await this.#waitFor(woken.promise, deadline);
      return {};
    } finally {
      this.#options.tokens.delete(token);
    }
  }

  async #invoke(task: LocalTask, payload: unknown, timeout: number): Promise<unknown> {
    const handler = this.#options.functions[task.function];
    if (handler === undefined) throw new Error(`There is no function ${task.function}.`);
    const call = handler(payload, localContext(task.function, this.#options.ids.fresh(), timeout));
    this.#inFlight.add(call);
    void call.then(
      () => this.#inFlight.delete(call),
      () => this.#inFlight.delete(call),
    );
    return this.#before(this.#options.clock.now() + timeout, call);
  }

  async #waitFor<T>(promise: Promise<T>, deadline: number): Promise<T> {
    this.#count(-1, 1);
    try {
      return await this.#before(deadline, promise);
    } finally {
      this.#count(1, -1);
    }
  }

  async #waitUntil(at: number): Promise<void> {
    this.#count(-1, 1);
    try {
      await this.#options.clock.until(at, this.#stop.signal);
    } finally {
      this.#count(1, -1);
    }
  }

  async #before<T>(deadline: number, promise: Promise<T>): Promise<T> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, this.#stop.signal]);
    const timeout = this.#options.clock.until(deadline, signal).then(() => {
      throw new TaskTimeout();
    });
    try {
      return await Promise.race([promise, timeout]);
    } finally {
      done.abort(OVER);
    }
  }

  /** Nothing is done while every task that runs only waits for the clock or a wake. */
  #count(live: number, waiting: number): void {
    this.#live += live;
    this.#waiting += waiting;
    const idle = this.#live === 0 && this.#waiting > 0;
    if (idle) this.#endActivity?.();
    if (idle) this.#endActivity = null;
    else if (!this.#ended) this.#endActivity ??= this.#options.activity.begin();
  }
}

/** One object for all, so that ending a timer costs no stack trace. */
const OVER = new Error('The task has ended.');

class TaskTimeout extends Error {
  override readonly name = 'States.Timeout';
  constructor() {
    super('The task did not end in time.');
  }
}

type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** What arrives when a value goes through JSON, as between the real engine and Lambda. */
export function asJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value ?? null));
}

function timeoutMs(task: LocalTask, input: TaskInput): number {
  if (typeof task.timeout === 'number') return task.timeout * 1_000;
  const value = task.timeout.reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], input);
  return z.int().min(1).max(99_999_999).parse(value) * 1_000;
}

function matches(retrier: Retrier, error: unknown): boolean {
  const name = error instanceof Error ? error.name : 'Error';
  return retrier.ErrorEquals.some(
    (wanted) => wanted === name || wanted === 'States.ALL' || (wanted === 'States.TaskFailed' && name !== 'States.Timeout'),
  );
}

function backoffMs(retrier: Retrier, tries: number, random: () => number): number {
  const seconds = Math.min(retrier.IntervalSeconds * retrier.BackoffRate ** tries, retrier.MaxDelaySeconds);
  return Math.round(seconds * 1_000 * (retrier.JitterStrategy === 'FULL' ? random() : 1));
}
