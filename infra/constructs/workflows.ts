import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { WORKFLOW_ROLES } from '../functions.ts';
import type { StageSettings } from '../stages.ts';
import { acknowledge } from './acknowledge.ts';
import type { Functions } from './functions.ts';
import { logGroup } from './log-group.ts';
import type { MachineAddress, MachineName } from './machine-names.ts';

export interface WorkflowsProps {
  readonly stage: StageSettings;
  readonly functions: Functions;
  readonly addresses: Readonly<Record<MachineName, MachineAddress>>;
  readonly undelivered: IQueue;
}

/** The text of a state machine, and what its executions carry as the version that they were started under. */
export function definitionOf(machine: MachineName): { readonly text: string; readonly hash: string } {
  const text = readFileSync(new URL(`../workflows/${machine}.asl.json`, import.meta.url), 'utf8');
  return { text, hash: createHash('sha256').update(text).digest('hex').slice(0, 16) };
}

/** The state machines, from the same files that the local engine runs, and the rule that reports executions which ended badly. */
export class Workflows extends Construct {
  readonly machines: Readonly<Record<MachineName, StateMachine>>;

  constructor(scope: Construct, id: string, props: WorkflowsProps) {
    super(scope, id);
    this.machines = { wave: this.#machine('wave', props), enqueue: this.#machine('enqueue', props) };
    this.#watch(props);
  }

  #machine(name: MachineName, { stage, functions, addresses }: WorkflowsProps): StateMachine {
    const { text, hash } = definitionOf(name);
    const used = Object.entries(WORKFLOW_ROLES).filter(([role]) => text.includes(`\${${role}}`));
    const machine = new StateMachine(this, name, {
      stateMachineName: addresses[name].name,
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromString(text),
      definitionSubstitutions: {
        ...Object.fromEntries(used.map(([role, fn]) => [role, functions.of(fn).functionArn])),
        ...(text.includes('${DefinitionHash}') ? { DefinitionHash: hash } : {}),
      },
      // Input and output of states stay out of the log: the log is read by more people than the table.
      logs: { destination: logGroup(this, `${name}-logs`, stage), level: LogLevel.ALL, includeExecutionData: false },
      tracingEnabled: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    for (const [, fn] of used) functions.of(fn).grantInvokeLatestVersion(machine);
    acknowledge(machine, {
      'AwsSolutions-IAM5[Resource::*]':
        'Delivery of logs and traces has no resources that a permission could name; invoking functions has.',
    });
    return machine;
  }

  #watch({ functions, undelivered }: WorkflowsProps): void {
    new Rule(this, 'EndedBadly', {
      description: 'Block Rollout: executions that failed, timed out or were aborted',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          status: ['FAILED', 'TIMED_OUT', 'ABORTED'],
          stateMachineArn: Object.values(this.machines).map((machine) => machine.stateMachineArn),
        },
      },
      targets: [
        new FunctionTarget(functions.of('execution-watch'), {
          deadLetterQueue: undelivered,
          maxEventAge: Duration.hours(1),
          retryAttempts: 10,
        }),
      ],
    });
  }
}
