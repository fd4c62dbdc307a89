import {
  DescribeExecutionCommand,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { until } from './until.ts';

export interface Seen {
  readonly name: string;
  readonly status: string;
  readonly error: string | null;
  readonly cause: string | null;
  readonly output: string | null;
}

/** Executions of the wave machine, as an administrator sees and starts them in the console. */
export class Executions {
  readonly #client = new SFNClient({});
  readonly #machine: string;

  constructor(machine: string) {
    this.#machine = machine;
  }

  #arnOf(name: string): string {
    return `${this.#machine.replace(':stateMachine:', ':execution:')}:${name}`;
  }

  /** Names, those that run now or all. */
  async names(running: boolean): Promise<string[]> {
    const filter = running ? ({ statusFilter: 'RUNNING' } as const) : {};
    const { executions = [] } = await this.#client.send(new ListExecutionsCommand({ stateMachineArn: this.#machine, ...filter }));
    return executions.map(({ name = '' }) => name);
  }

  async see(name: string): Promise<Seen> {
    const found = await this.#client.send(new DescribeExecutionCommand({ executionArn: this.#arnOf(name) }));
    const { status = '', error = null, cause = null, output = null } = found;
    return { name, status, error, cause, output };
  }

  async start(name: string, input: unknown): Promise<void> {
    await this.#client.send(new StartExecutionCommand({ stateMachineArn: this.#machine, name, input: JSON.stringify(input) }));
  }

  async kill(name: string): Promise<void> {
    await this.#client.send(new StopExecutionCommand({ executionArn: this.#arnOf(name) }));
  }

  /** As soon as it has ended. */
  ended(name: string): Promise<Seen> {
    return until(`the end of execution ${name}`, 60, async () => {
      const seen = await this.see(name);
      return seen.status === 'RUNNING' ? null : seen;
    });
  }
}
