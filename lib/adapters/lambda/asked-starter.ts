import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { WorkflowStarter } from '../../app/ports.ts';

/**
 * For a function that may start nothing itself (DESIGN §6): enqueue runs are started by the trigger function, which is asked and not waited for. Whether
 * it was started before only that function learns; the run's name makes a doubled start harmless, and the tick starts what was lost.
 */
export class AskedStarter implements WorkflowStarter {
  readonly #client: LambdaClient;
  readonly #trigger: string;
  readonly #own: WorkflowStarter;

  /** @param own what the function may do by itself: wake waves */
  constructor(client: LambdaClient, trigger: string, own: WorkflowStarter) {
    this.#client = client;
    this.#trigger = trigger;
    this.#own = own;
  }

  startWave(input: { block_rollout: string; generation: number }): Promise<'started' | 'exists'> {
    return this.#own.startWave(input);
  }

  async startEnqueue({ enqueue_run }: { enqueue_run: string }): Promise<'started' | 'exists'> {
    const Payload = JSON.stringify({ enqueue_run });
    await this.#client.send(new InvokeCommand({ FunctionName: this.#trigger, InvocationType: 'Event', Payload }));
    return 'started';
  }

  sendWake(token: string): Promise<void> {
    return this.#own.sendWake(token);
  }
}

export const askedStarter = (trigger: string, own: WorkflowStarter): WorkflowStarter =>
  new AskedStarter(new LambdaClient({}), trigger, own);
