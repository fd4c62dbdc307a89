import { ExecutionAbortedError, StateMachine } from 'aws-local-stepfunctions';
import type { Clock, Ids, Logger, WorkflowStarter } from '../lib/app/ports.ts';
import { enqueueExecutionName, waveExecutionName } from '../lib/contracts/workflow/names.ts';
import type { Activity } from './activity.ts';
import { asJson, Execution, type ExecutionEnd, type MachineName, TOKEN_PLACEHOLDER } from './execution.ts';
import { type LocalHandler, localContext } from './lambda.ts';
import { type LocalMachine, loadMachine } from './local-asl.ts';

/** Executions that run now, kept where a crash of the process does not reach them. */
export interface ExecutionLog {
  put(execution: LoggedExecution): Promise<void>;
  list(): Promise<readonly LoggedExecution[]>;
  remove(name: string): Promise<void>;
}
export interface LoggedExecution {
  readonly name: string;
  readonly machine: MachineName;
  readonly started_at: number;
}

/** Which function of the local runtime stands behind which substitution of the ASL files; a test compares it with the template. */
export const WORKFLOW_FUNCTIONS = {
  PlanWaveFunctionArn: 'wave-plan',
  DispatchBatchFunctionArn: 'wave-dispatch',
  AwaitProgressFunctionArn: 'wave-await',
  RecordFailureFunctionArn: 'wave-end',
  PlanPagesFunctionArn: 'enqueue-plan',
  EnqueuePageFunctionArn: 'enqueue-page',
} as const;
export type WorkflowFunction = (typeof WORKFLOW_FUNCTIONS)[keyof typeof WORKFLOW_FUNCTIONS];

export interface EngineOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly activity: Activity;
  readonly executions: ExecutionLog;
  readonly functions: Readonly<Record<WorkflowFunction | 'execution-watch', LocalHandler>>;
  readonly random: () => number;
}

/** Runs the ASL files of `infra/workflows` in this process, calling the same handlers that Lambda runs. */
export class LocalEngine implements WorkflowStarter {
  readonly #options: EngineOptions;
  readonly #machines: Record<MachineName, { readonly local: LocalMachine; readonly machine: StateMachine }>;
  readonly #running = new Map<string, Execution>();
  /** As on AWS, a name is good for one execution; forgotten with the process. */
  readonly #closed = new Set<string>();
  readonly #tokens = new Map<string, () => void>();
  #stopping = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    const load = (name: MachineName) => {
      const local = loadMachine(name, WORKFLOW_FUNCTIONS);
      return { local, machine: new StateMachine(local.definition, { validationOptions: { noValidate: true } }) };
    };
    this.#machines = { wave: load('wave'), enqueue: load('enqueue') };
  }

  async startWave({ block_rollout, generation }: { block_rollout: string; generation: number }): Promise<'started' | 'exists'> {
    return this.start('wave', waveExecutionName(block_rollout, generation), { block_rollout, generation });
  }

  async startEnqueue({ enqueue_run, generation = 1 }: { enqueue_run: string; generation?: number }): Promise<'started' | 'exists'> {
    return this.start('enqueue', enqueueExecutionName(enqueue_run, generation), { enqueue_run, generation });
  }

  async sendWake(token: string): Promise<void> {
    this.#tokens.get(token)?.();
  }

  /** As from the console: any input, and a name of one's own choice. The same start while it runs is the same execution. */
  async start(machine: MachineName, name: string, input: unknown): Promise<'started' | 'exists'> {
    if (this.#stopping) throw new Error('The workflow engine is stopping.');
    const running = this.#running.get(name);
    if (running !== undefined) return running.isFor(input) ? 'started' : 'exists';
    if (this.#closed.has(name)) return 'exists';
    const execution = new Execution({
      ...this.#options,
      name,
      machine,
      input,
      tokens: this.#tokens,
      tasks: this.#machines[machine].local.tasks,
    });
    this.#running.set(name, execution);
    try {
      await this.#options.executions.put({ name, machine, started_at: this.#options.clock.now() });
    } catch (error) {
      this.#running.delete(name);
      execution.end();
      throw error;
    }
    execution.finished = this.#run(execution);
    return 'started';
  }

  /** Resolves when this execution has ended; null when it never ran or has ended before. */
  async ended(name: string): Promise<ExecutionEnd | null> {
    return (await this.#running.get(name)?.finished) ?? null;
  }

  running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** At boot: executions that a crash cut short are reported as aborted, the same path as on AWS. */
  async reportAborted(): Promise<number> {
    const rows = (await this.#options.executions.list()).filter((row) => !this.#running.has(row.name));
    for (const { name } of rows) await this.#report({ name, status: 'ABORTED', error: null, cause: 'The process that ran it ended.' });
    return rows.length;
  }

  /** Running steps finish; what waits is dropped, its row stays and is reported at the next boot. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const executions = [...this.#running.values()];
    for (const execution of executions) execution.abort();
    await Promise.allSettled(executions.map((execution) => execution.settled()));
  }

  async #run(execution: Execution): Promise<ExecutionEnd> {
    const { machine } = this.#machines[execution.machine];
    const context = { Execution: { Id: execution.name, Name: execution.name }, Task: { Token: TOKEN_PLACEHOLDER } };
    const run = machine.run(asJson(execution.input), {
      context,
      overrides: { taskResourceLocalHandlers: execution.taskHandlers() },
    });
    execution.onAbort(run.abort);
    void drain(run.eventLogs);
    const end = await run.result.then(
      () => ({ name: execution.name, status: 'SUCCEEDED' as const, error: null, cause: null }),
      (error: unknown) => failedEnd(execution.name, error),
    );
    try {
      if (!this.#stopping) await this.#report(end);
    } finally {
      execution.end();
    }
    return end;
  }

  /** What could not be reported stays as a row, for the next start; the tick finds the work by its time before that. */
  async #report(end: ExecutionEnd): Promise<void> {
    this.#running.delete(end.name);
    this.#closed.add(end.name);
    try {
      if (end.status !== 'SUCCEEDED') await this.#watch(end);
      await this.#options.executions.remove(end.name);
    } catch (error) {
      this.#options.log.error('execution_end_not_reported', { execution: end.name, error: String(error) });
    }
  }

  async #watch({ name, status, error, cause }: ExecutionEnd): Promise<void> {
    const detail = { executionArn: `arn:aws:states:local:000000000000:execution:local:${name}`, name, status, error, cause };
    const event = { source: 'aws.states', 'detail-type': 'Step Functions Execution Status Change', detail };
    await this.#options.functions['execution-watch'](event, localContext('execution-watch', this.#options.ids.fresh()));
  }
}

function failedEnd(name: string, error: unknown): ExecutionEnd {
  if (error instanceof ExecutionAbortedError) return { name, status: 'ABORTED', error: null, cause: null };
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error) return { name, status: 'FAILED', error: cause.name, cause: cause.message };
  return { name, status: 'FAILED', error: 'Unknown', cause: String(cause) };
}

/** The engine keeps every event, with the state's input, until somebody has read it. */
async function drain(events: AsyncGenerator<unknown>): Promise<void> {
  for await (const _ of events);
}
