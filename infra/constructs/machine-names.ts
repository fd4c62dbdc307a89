import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';

export const MACHINES = ['wave', 'enqueue'] as const;
export type MachineName = (typeof MACHINES)[number];

/** A state machine before it exists: what starts it must know its address, and what it calls must be there first. */
export interface MachineAddress {
  readonly name: string;
  readonly machine: IStateMachine;
}

/**
 * The only names that are not CloudFormation's: the function `wave-plan` starts the machines that call it, and a generated name would make each
 * wait for the other. They are made from the stack's, which is unique in its account and region (decision 0009).
 */
export function machineAddress(scope: Construct, machine: MachineName): MachineAddress {
  const stack = Stack.of(scope);
  const name = `${stack.stackName}-${machine}`;
  const arn = stack.formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: name,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return { name, machine: StateMachine.fromStateMachineArn(scope, `Address-${machine}`, arn) };
}
