import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { METRIC_DIMENSION, METRIC_NAMESPACE, type MetricName } from '../lib/contracts/telemetry/metrics.ts';

/** What alarms and dashboard look at. */
export interface Monitored {
  readonly stage: string;
  readonly table: TableV2;
  readonly api: HttpApi;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  readonly machines: readonly StateMachine[];
  readonly undelivered: IQueue;
}

/** `page` wakes somebody; `ticket` can wait for the day. */
type Severity = 'page' | 'ticket';

interface AlarmSettings {
  readonly severity: Severity;
  /** What is wrong when it goes off, in one sentence; the runbook has an article under the alarm's name. */
  readonly says: string;
  readonly metric: (m: Monitored) => IMetric;
  /** It goes off at this value and above (with `below`: under it) in each of so many periods in a row. */
  readonly at: number;
  readonly below?: true;
  readonly periods: number;
  /** No number at all is the worst number. */
  readonly missingIsBad?: true;
}

const minutes = (n: number) => Duration.minutes(n);

/** A number of the program itself. */
export const own = ({ stage }: Monitored, metricName: MetricName, statistic: string, every = minutes(1)): Metric =>
  new Metric({ namespace: METRIC_NAMESPACE, metricName, dimensionsMap: { [METRIC_DIMENSION]: stage }, statistic, period: every });

/** An alarm adds up ten metrics at most: the functions whose calls are not repeated by somebody who notices. */
const WATCHED = ['agent-api', 'api', 'authorizer', 'wave-plan', 'wave-dispatch', 'wave-await', 'enqueue-plan', 'enqueue-page', 'tick'];

export function sumOf(metrics: readonly IMetric[], label: string, period: Duration): IMetric {
  const usingMetrics = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
  return new MathExpression({ expression: Object.keys(usingMetrics).join(' + '), usingMetrics, label, period });
}

const ofFunctions = ({ functions }: Monitored, metric: (fn: LambdaFunction) => IMetric, label: string): IMetric =>
  sumOf(WATCHED.flatMap((name) => functions.get(name) ?? []).map(metric), label, minutes(5));

/** Every alarm, by the name of its article in docs/runbook.md. */
export const ALARMS = {
  'fleet-silent': {
    severity: 'page',
    says: 'So many agents fell silent at once that our own listener is the suspect.',
    metric: (m) => own(m, 'PlatformAlert', Stats.MAXIMUM),
    at: 1,
    periods: 1,
  },
  'tick-not-running': {
    severity: 'page',
    says: 'The minute tick has not come to its end for five minutes: nothing heals by itself.',
    metric: (m) => own(m, 'Ticks', Stats.SUM, minutes(5)),
    at: 1,
    below: true,
    periods: 1,
    missingIsBad: true,
  },
  'wave-blocked': {
    severity: 'page',
    says: 'A wave is blocked: too many items failed, nothing new starts in it until a person decides.',
    metric: (m) => own(m, 'WavesBlocked', Stats.MAXIMUM),
    at: 1,
    periods: 2,
  },
  'executions-failed': {
    severity: 'page',
    says: 'Workflow executions keep failing, other than by blocked waves or wrong console input.',
    metric: (m) => own(m, 'ExecutionsFailed', Stats.SUM, minutes(5)),
    at: 3,
    periods: 2,
  },
  'undelivered-calls': {
    severity: 'page',
    says: 'A schedule, a rule or a function could not reach its target; the call lies in the dead-letter queue.',
    metric: ({ undelivered }) => undelivered.metricApproximateNumberOfMessagesVisible({ period: minutes(1), statistic: Stats.MAXIMUM }),
    at: 1,
    periods: 1,
  },
  'outbox-age': {
    severity: 'page',
    says: 'Notices have not been delivered for a quarter of an hour: whoever should hear of blocked waves does not.',
    metric: (m) => own(m, 'OutboxAgeSeconds', Stats.MAXIMUM),
    at: 900,
    periods: 2,
  },
  'api-errors': {
    severity: 'page',
    says: 'The API answers with 5xx.',
    metric: ({ api }) => api.metricServerError({ period: minutes(5), statistic: Stats.SUM }),
    at: 10,
    periods: 2,
  },
  'functions-throttled': {
    severity: 'page',
    says: 'Functions are refused for lack of concurrency.',
    metric: (m) => ofFunctions(m, (fn) => fn.metricThrottles({ period: minutes(5) }), 'throttled calls'),
    at: 1,
    periods: 2,
  },
  'table-throttled': {
    severity: 'page',
    says: 'The table refuses reads or writes: a hot partition, or more than the table has grown to.',
    metric: ({ table }) => {
      const events = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
        table.metric(name, { period: minutes(5), statistic: Stats.SUM }),
      );
      return sumOf(events, 'throttled requests', minutes(5));
    },
    at: 50,
    periods: 2,
  },
  'function-errors': {
    severity: 'ticket',
    says: 'Functions fail: a bug, or a deployment that is not complete.',
    metric: (m) => ofFunctions(m, (fn) => fn.metricErrors({ period: minutes(5) }), 'failed calls'),
    at: 5,
    periods: 2,
  },
  'tick-failing': {
    severity: 'ticket',
    says: 'A part of the minute tick fails again and again; the other parts go on.',
    metric: (m) => own(m, 'TickFailures', Stats.SUM, minutes(5)),
    at: 3,
    periods: 2,
  },
  'index-behind': {
    severity: 'ticket',
    says: 'The counters of a wave have named more ready items than the index shows for a quarter of an hour: lag, or counters that are wrong.',
    metric: (m) => own(m, 'IndexBehind', Stats.SUM, minutes(5)),
    at: 3,
    periods: 3,
  },
  'agents-critical': {
    severity: 'ticket',
    says: 'More than a tenth of the agents have been silent for longer than AGENT_CRITICAL_AFTER_SECONDS.',
    metric: (m) =>
      new MathExpression({
        expression: 'IF(ok + warning + critical > 0, 100 * critical / (ok + warning + critical), 0)',
        usingMetrics: {
          ok: own(m, 'AgentsOk', Stats.MAXIMUM, minutes(5)),
          warning: own(m, 'AgentsWarning', Stats.MAXIMUM, minutes(5)),
          critical: own(m, 'AgentsCritical', Stats.MAXIMUM, minutes(5)),
        },
        label: 'silent agents, percent',
        period: minutes(5),
      }),
    at: 10,
    periods: 3,
  },
} as const satisfies Readonly<Record<string, AlarmSettings>>;

export type AlarmName = keyof typeof ALARMS;
export const alarmNames = Object.keys(ALARMS) as AlarmName[];
export const alarmSettings = (name: AlarmName): AlarmSettings => ALARMS[name];
