import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { FUNCTIONS, type FunctionName, type Permission } from '../functions.ts';
import { acknowledge } from './acknowledge.ts';
import type { DataTable } from './data-table.ts';
import type { Functions } from './functions.ts';
import type { MachineAddress, MachineName } from './machine-names.ts';
import type { Schedules } from './schedules.ts';

/** What permissions are about. */
export interface Resources {
  readonly data: DataTable;
  readonly functions: Functions;
  readonly machines: Readonly<Record<MachineName, MachineAddress>>;
  readonly schedules: Schedules;
  readonly notices: Topic;
}

/** A grant, and the environment values that a function needs to make use of it. */
type Grants = Readonly<Record<Permission, (to: LambdaFunction) => Readonly<Record<string, string>>>>;

/** Gives every function what `infra/functions.ts` lists for it. */
export function grantPermissions(resources: Resources): void {
  const grants = grantsOf(resources);
  for (const name of Object.keys(FUNCTIONS) as FunctionName[]) {
    const to = resources.functions.of(name);
    for (const permission of FUNCTIONS[name].may)
      for (const [variable, value] of Object.entries(grants[permission](to))) to.addEnvironment(variable, value);
  }
}

function grantsOf({ data, functions, machines, schedules, notices }: Resources): Grants {
  const table = { TABLE_NAME: data.table.tableName };
  /** Granted and told; the version suffixes of a whole function are not needed. */
  const invoke = (name: FunctionName, variable: string, value: 'functionName' | 'functionArn') => (to: LambdaFunction) => {
    functions.of(name).grantInvokeLatestVersion(to);
    return { [variable]: functions.of(name)[value] };
  };
  return {
    'know table': () => table,
    'read table': (to) => {
      data.grantRead(to);
      return table;
    },
    'write table': (to) => {
      data.grantWrite(to);
      return table;
    },
    'use access keys': (to) => {
      data.grantKeys(to);
      return table;
    },
    'start waves': (to) => {
      machines.wave.machine.grantStartExecution(to);
      return { WAVE_MACHINE_ARN: machines.wave.machine.stateMachineArn };
    },
    'start enqueue runs': (to) => {
      machines.enqueue.machine.grantStartExecution(to);
      return { ENQUEUE_MACHINE_ARN: machines.enqueue.machine.stateMachineArn };
    },
    'wake waves': (to) => {
      machines.wave.machine.grant(to, 'states:SendTaskSuccess');
      return {};
    },
    'keep schedules': (to) => schedules.grantKeep(to),
    'publish notices': (to) => {
      notices.grantPublish(to);
      acknowledge(functions.all.outbox, {
        'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]':
          'The grant of the topic; on its one key: with and without the plain text of the data key.',
      });
      return { NOTICES_TOPIC_ARN: notices.topicArn };
    },
    'invoke trigger': invoke('trigger', 'TRIGGER_FUNCTION_ARN', 'functionArn'),
    'invoke outbox': invoke('outbox', 'OUTBOX_FUNCTION_NAME', 'functionName'),
    'invoke render': invoke('render', 'RENDER_FUNCTION_NAME', 'functionName'),
  };
}
