import {
  ExecutionAlreadyExists,
  InvalidToken,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import type { WorkflowStarter } from '../../app/ports.ts';
import { enqueueExecutionName, waveExecutionName } from '../../contracts/workflow/names.ts';

/** null = this function may not start it (DESIGN §6). */
export interface StateMachineArns {
  readonly wave: string | null;
  readonly enqueue: string | null;
}

/** The real thing: AWS Step Functions. A start under a name that exists, and a wake for a token that is gone, have what they wanted. */
export class StepFunctionsStarter implements WorkflowStarter {
  readonly #client: SFNClient;
  readonly #machines: StateMachineArns;

  constructor(client: SFNClient, machines: StateMachineArns) {
    this.#client = client;
    this.#machines = machines;
  }

  async startWave(input: { block_rollout: string; generation: number }): Promise<'started' | 'exists'> {
    const { block_rollout, generation } = input;
    return this.#start('wave', waveExecutionName(block_rollout, generation), { block_rollout, generation });
  }

  async startEnqueue(input: { enqueue_run: string; generation?: number }): Promise<'started' | 'exists'> {
    const { enqueue_run, generation = 1 } = input;
    return this.#start('enqueue', enqueueExecutionName(enqueue_run, generation), { enqueue_run, generation });
  }

  async sendWake(token: string): Promise<void> {
    try {
      await this.#client.send(new SendTaskSuccessCommand({ taskToken: token, output: '{}' }));
    } catch (error) {
      if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken) return;
      throw error;
    }
  }

  async #start(machine: keyof StateMachineArns, name: string, input: object): Promise<'started' | 'exists'> {
    const stateMachineArn = this.#machines[machine];
    if (stateMachineArn === null) throw new Error(`This function may not start the ${machine} machine; the tick will.`);
    try {
      await this.#client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
      return 'started';
    } catch (error) {
      if (error instanceof ExecutionAlreadyExists) return 'exists';
      throw error;
    }
  }
}

/** Every call has an end before the function's own; what does not get through in three tries is left to the tick. */
export const stepFunctionsStarter = (machines: StateMachineArns): WorkflowStarter =>
  new StepFunctionsStarter(
    new SFNClient({ maxAttempts: 3, requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000, throwOnRequestTimeout: true } }),
    machines,
  );
