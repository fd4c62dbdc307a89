import {
  ExecutionAlreadyExists,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import type { WorkflowStarter } from '../../app/ports.ts';
import { enqueueExecutionName, waveExecutionName } from '../../contracts/workflow/names.ts';

export interface StateMachineArns {
  readonly wave: string;
  readonly enqueue: string;
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
    return this.#start(this.#machines.wave, waveExecutionName(block_rollout, generation), { block_rollout, generation });
  }

  async startEnqueue(input: { enqueue_run: string; generation?: number }): Promise<'started' | 'exists'> {
    const { enqueue_run, generation = 1 } = input;
    return this.#start(this.#machines.enqueue, enqueueExecutionName(enqueue_run, generation), { enqueue_run, generation });
  }

  async sendWake(token: string): Promise<void> {
    try {
      await this.#client.send(new SendTaskSuccessCommand({ taskToken: token, output: '{}' }));
    } catch (error) {
      if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist) return;
      throw error;
    }
  }

  async #start(stateMachineArn: string, name: string, input: object): Promise<'started' | 'exists'> {
    try {
      await this.#client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
      return 'started';
    } catch (error) {
      if (error instanceof ExecutionAlreadyExists) return 'exists';
      throw error;
    }
  }
}

export const stepFunctionsStarter = (machines: StateMachineArns): WorkflowStarter => new StepFunctionsStarter(new SFNClient({}), machines);
