import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { OutboxStarter } from '../../app/ports.ts';

/** The answer of another function of ours. A fault of that function is an error here, with its own words. */
async function invoke(client: LambdaClient, functionName: string, payload: unknown): Promise<unknown> {
  const answer = await client.send(new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) }));
  const text = Buffer.from(answer.Payload ?? []).toString('utf8');
  if (answer.FunctionError !== undefined) throw new Error(`${functionName} failed (${answer.FunctionError}): ${text.slice(0, 500)}`);
  return text === '' ? null : JSON.parse(text);
}

/** Ids of one call: well under what an asynchronous call may carry. */
const MOST = 1_000;

/** Calls the outbox function without waiting for its work. What is asked for while a call is on its way goes together in the next one. */
export class LambdaOutboxStarter implements OutboxStarter {
  readonly #client: LambdaClient;
  readonly #functionName: string;
  #waiting: string[] = [];
  #next: Promise<void> | null = null;
  #calls: Promise<void> = Promise.resolve();

  constructor(client: LambdaClient, functionName: string) {
    this.#client = client;
    this.#functionName = functionName;
  }

  start(notices: readonly string[]): Promise<void> {
    this.#waiting.push(...notices);
    this.#next ??= this.#calls.then(() => this.#call());
    return this.#next;
  }

  async #call(): Promise<void> {
    // The tick calls for what is beyond.
    const notices = this.#waiting.splice(0).slice(0, MOST);
    this.#next = null;
    const sent = this.#client.send(
      new InvokeCommand({ FunctionName: this.#functionName, InvocationType: 'Event', Payload: JSON.stringify({ notices }) }),
    );
    this.#calls = sent.then(
      () => undefined,
      () => undefined,
    );
    await sent;
  }
}

/** Without a function to call, the tick of another one does it. */
export function outboxStarter(functionName: string | undefined): OutboxStarter {
  return functionName === undefined ? { start: async () => undefined } : new LambdaOutboxStarter(new LambdaClient({}), functionName);
}

/** Another function as a call; it fails, and says why, where the function has not been given. */
export function caller(functionName: string | undefined, variable: string): (payload: unknown) => Promise<unknown> {
  if (functionName === undefined) return () => Promise.reject(new Error(`${variable} is not set for this function.`));
  const client = new LambdaClient({});
  return (payload) => invoke(client, functionName, payload);
}
