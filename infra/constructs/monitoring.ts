import { Aws, Duration } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  type Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { METRICS, type MetricName } from '../../lib/contracts/telemetry/metrics.ts';
import { type AlarmName, alarmNames, alarmSettings, type Monitored, own } from '../alarms.ts';

/** Where an alarm's article is, from the root of the repository. */
export const articleOf = (name: AlarmName): string => `docs/runbook.md#${name}`;

export interface MonitoringProps {
  readonly monitored: Monitored;
  readonly topic: ITopic;
  /** Left out: true. False leaves out the alarms that calculate with several metrics. */
  readonly calculatedAlarms?: boolean;
}

/** Alarms, each with its article in the runbook, and one dashboard that shows what they look at. */
export class Monitoring extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, { monitored, topic, calculatedAlarms = true }: MonitoringProps) {
    super(scope, id);
    letAlarmsPublish(topic);
    const possible = (name: AlarmName) => calculatedAlarms || !(alarmSettings(name).metric(monitored) instanceof MathExpression);
    const alarms = alarmNames.filter(possible).map((name) => this.#alarm(name, monitored, topic));
    this.dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(6) });
    for (const row of rows(monitored, alarms)) this.dashboard.addWidgets(...row);
  }

  get url(): string {
    return `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${this.dashboard.dashboardName}`;
  }

  #alarm(name: AlarmName, monitored: Monitored, topic: ITopic): Alarm {
    const { severity, says, metric, at, below, periods, missingIsBad } = alarmSettings(name);
    const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_THRESHOLD } = ComparisonOperator;
    const alarm = new Alarm(this, name, {
      metric: metric(monitored),
      threshold: at,
      comparisonOperator: below ? LESS_THAN_THRESHOLD : GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: missingIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: `[${severity}] ${says} What to do: ${articleOf(name)}`,
    });
    const action = new SnsAction(topic);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  }
}

/** A topic with a policy of its own, as ours, lets nobody publish whom it does not name. */
function letAlarmsPublish(topic: ITopic): void {
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
}

const WIDTH = 24;

function graph(title: string, left: readonly IMetric[], of: number, right: readonly IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: WIDTH / of, height: 6 });
}

const rows = (m: Monitored, alarms: Alarm[]): IWidget[][] => [
  [new AlarmStatusWidget({ title: 'Alarms', alarms, width: WIDTH, height: 4 })],
  ...programRows(m),
  ...serviceRows(m),
];

/** What the program says about itself. */
function programRows(m: Monitored): IWidget[][] {
  const last = (...names: MetricName[]) => names.map((name) => named(name, own(m, name, Stats.MAXIMUM)));
  const sum = (...names: MetricName[]) => names.map((name) => named(name, own(m, name, Stats.SUM)));
  const times = (name: MetricName) => [Stats.p(50), Stats.p(95)].map((s) => own(m, name, s).with({ label: `${name} ${s}` }));
  return [
    [
      graph('Items of open waves', last('ItemsPending', 'ItemsInProgress', 'ItemsCompleted', 'ItemsFailed', 'ItemsSkipped'), 3),
      graph('Open waves', last('WavesActive', 'WavesPaused', 'WavesBlocked'), 3),
      graph('Attempts', sum('Dispatched', 'AttemptsSucceeded', 'AttemptsFailed', 'AttemptsWithdrawn', 'AttemptsCancelled'), 3),
    ],
    [
      graph('Agents', last('AgentsOk', 'AgentsWarning', 'AgentsCritical'), 4, sum('Heartbeats')),
      graph('Decisions', [...times('DecisionSeconds'), ...times('DispatchDelaySeconds')], 4),
      graph('Mended or late', sum('LateMessages', 'Timeouts', 'DriversReplaced', 'IndexBehind', 'ExecutionsFailed', 'TickFailures'), 4),
      graph('Oldest notice, seconds', last('OutboxAgeSeconds'), 4),
    ],
  ];
}

/** What AWS says about what it runs for us. */
function serviceRows(m: Monitored): IWidget[][] {
  const calls = { period: Duration.minutes(1) };
  const latency = [Stats.p(50), Stats.p(99)].map((statistic) => m.api.metricLatency({ ...calls, statistic }));
  const failed = ofEach(m, (fn) => fn.metricErrors(calls));
  const throttled = ofEach(m, (fn) => fn.metricThrottles(calls));
  const executions = m.machines.flatMap((machine) => [machine.metricStarted(calls), machine.metricFailed(calls)]);
  return [
    [
      graph('API', [m.api.metricCount(calls)], 3, [m.api.metricServerError(calls), m.api.metricClientError(calls)]),
      graph('API, milliseconds', latency, 3),
      graph('Functions, failed and throttled calls', failed, 3, throttled),
    ],
    [
      graph('Table, units', tableMetrics(m, 'ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits'), 3),
      graph('Table, refused', tableMetrics(m, 'ReadThrottleEvents', 'WriteThrottleEvents', 'TransactionConflict'), 3),
      graph('Executions, undelivered calls', executions, 3, [m.undelivered.metricApproximateNumberOfMessagesVisible(calls)]),
    ],
  ];
}

/** As the page of numbers explains it. */
const named = (name: MetricName, metric: ReturnType<typeof own>): IMetric => {
  const described = METRICS[name];
  return metric.with({ label: 'label' in described ? described.label[1] : name });
};

const tableMetrics = ({ table }: Monitored, ...names: string[]): IMetric[] =>
  names.map((name) => table.metric(name, { period: Duration.minutes(1), statistic: Stats.SUM }));

const ofEach = ({ functions }: Monitored, metric: (fn: LambdaFunction) => Metric): IMetric[] =>
  [...functions].map(([label, fn]) => metric(fn).with({ label }));
