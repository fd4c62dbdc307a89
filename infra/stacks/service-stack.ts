import { Aws, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Bundle } from '../bundle.ts';
import { Api } from '../constructs/api.ts';
import type { DataTable } from '../constructs/data-table.ts';
import { Functions } from '../constructs/functions.ts';
import { machineAddress } from '../constructs/machine-names.ts';
import { Monitoring } from '../constructs/monitoring.ts';
import { Notices } from '../constructs/notices.ts';
import { grantPermissions } from '../constructs/permissions.ts';
import { Schedules } from '../constructs/schedules.ts';
import { Undelivered } from '../constructs/undelivered.ts';
import { definitionOf, Workflows } from '../constructs/workflows.ts';
import type { StageSettings } from '../stages.ts';

export interface ServiceStackProps extends StackProps {
  readonly stage: StageSettings;
  readonly data: DataTable;
  readonly bundles: Readonly<Record<string, Bundle>>;
}

/** Everything that can be thrown away and deployed again. */
export class ServiceStack extends Stack {
  readonly data: DataTable;
  readonly undelivered: Undelivered;
  readonly notices: Notices;
  readonly functions: Functions;
  readonly workflows: Workflows;
  readonly schedules: Schedules;
  readonly api: Api;
  readonly monitoring: Monitoring;

  constructor(scope: Construct, id: string, { stage, data, bundles, ...props }: ServiceStackProps) {
    super(scope, id, props);
    this.data = data;
    this.undelivered = new Undelivered(this, 'Undelivered');
    const undelivered = this.undelivered.queue;
    this.notices = new Notices(this, 'Notices');
    this.functions = new Functions(this, 'Functions', { stage, bundles, undelivered });
    const functions = this.functions;
    const addresses = { wave: machineAddress(this, 'wave'), enqueue: machineAddress(this, 'enqueue') };
    this.schedules = new Schedules(this, 'Schedules', { tick: functions.of('tick'), trigger: functions.of('trigger'), undelivered });
    grantPermissions({ data, functions, machines: addresses, schedules: this.schedules, notices: this.notices.topic });
    functions.of('wave-plan').addEnvironment('WAVE_DEFINITION', definitionOf('wave').hash);
    this.workflows = new Workflows(this, 'Workflows', { stage, functions, addresses, undelivered });
    this.api = new Api(this, 'Api', { stage, functions });
    this.monitoring = this.#monitor(stage);
    this.#outputs();
  }

  #monitor({ name, calculatedAlarms }: StageSettings): Monitoring {
    const { functions, workflows, data, api, undelivered, notices } = this;
    const made = Object.entries(functions.all).map(([fn, { function: made }]) => [fn, made] as const);
    const monitored = {
      stage: name,
      table: data.table,
      api: api.api,
      functions: new Map(made),
      machines: Object.values(workflows.machines),
      undelivered: undelivered.queue,
    };
    return new Monitoring(this, 'Monitoring', { monitored, topic: notices.topic, calculatedAlarms });
  }

  #outputs(): void {
    const { tableName } = this.data.table;
    const outputs: Readonly<Record<string, readonly [value: string, description: string]>> = {
      ApiUrl: [this.api.url, 'Address of the API; its description is at api/v1/schema'],
      TableName: [tableName, 'The table'],
      FirstAdminKey: [`npm run admin-key -- --table ${tableName}`, 'Run this once: it prints the first administrator key'],
      WaveMachineConsole: [consoleOf(this.workflows.machines.wave.stateMachineArn), 'Waves: start one, or see what they do'],
      EnqueueMachineConsole: [consoleOf(this.workflows.machines.enqueue.stateMachineArn), 'Enqueue runs'],
      Dashboard: [this.monitoring.url, 'Rollouts, agents, functions and table at one look'],
      NoticesTopic: [this.notices.topic.topicArn, 'Subscribe to it to hear of blocked waves, failed items and alarms'],
    };
    for (const [id, [value, description]] of Object.entries(outputs)) new CfnOutput(this, id, { value, description });
  }
}

const consoleOf = (machine: string): string =>
  `https://${Aws.REGION}.console.aws.amazon.com/states/home?region=${Aws.REGION}#/statemachines/view/${machine}`;
