/** Every number that the program counts or measures (SPEC §11), once: for CloudWatch, for Prometheus, for the alarms and the dashboard. */

interface Metric {
  /** `counter` only grows; `duration` is in seconds, `gauge` is measured by the minute tick. */
  readonly kind: 'counter' | 'duration' | 'gauge';
  readonly unit: 'Count' | 'Seconds';
  /** Name in Prometheus, without the prefix and without what the kind adds. */
  readonly family: string;
  readonly label?: readonly [name: string, value: string];
  readonly help: string;
}

const counter = <const F extends string>(family: F, help: string, label?: readonly [string, string]) =>
  ({ kind: 'counter', unit: 'Count', family, help, ...(label === undefined ? {} : { label }) }) as const;
const duration = (family: string, help: string) => ({ kind: 'duration', unit: 'Seconds', family, help }) as const;
const gauge = (family: string, help: string, label?: readonly [string, string]) =>
  ({ kind: 'gauge', unit: 'Count', family, help, ...(label === undefined ? {} : { label }) }) as const;

const ATTEMPTS = 'attempts that ended';
const WAVES = 'waves that are not over';
const ITEMS = 'items of waves that are not over';
const AGENTS = 'agents that have reported at least once, by how long ago';

/** By the name that CloudWatch knows. */
export const METRICS = {
  Heartbeats: counter('heartbeats', 'reports of agents'),
  Dispatched: counter('dispatched', 'items that were started'),
  AttemptsSucceeded: counter('attempts', ATTEMPTS, ['outcome', 'succeeded']),
  AttemptsFailed: counter('attempts', ATTEMPTS, ['outcome', 'failed']),
  AttemptsCancelled: counter('attempts', ATTEMPTS, ['outcome', 'cancelled']),
  AttemptsWithdrawn: counter('attempts', ATTEMPTS, ['outcome', 'withdrawn']),
  Timeouts: counter('timeouts', 'attempts that ended because their deadline had passed'),
  LateMessages: counter('late_messages', 'messages about an attempt that had ended or moved on: late or doubled'),
  ExecutionsFailed: counter('executions_failed', 'workflow executions that ended badly, other than by a blocked wave or wrong input'),
  DriversReplaced: counter('drivers_replaced', 'waves that had lost their execution and got another'),
  IndexBehind: counter('index_behind', 'plans that saw fewer ready items than the counters say'),
  Ticks: counter('ticks', 'minute ticks that came to their end'),
  TickFailures: counter('tick_failures', 'parts or steps of the minute tick that failed'),
  DecisionSeconds: duration('decision_seconds', 'one look at a wave: from its first read to its decision, written'),
  DispatchDelaySeconds: duration('dispatch_delay_seconds', 'from the plan that ordered an item to its start'),
  WavesActive: gauge('waves', WAVES, ['status', 'active']),
  WavesPaused: gauge('waves', WAVES, ['status', 'paused']),
  WavesBlocked: gauge('waves', WAVES, ['status', 'blocked']),
  ItemsPending: gauge('items', ITEMS, ['status', 'pending']),
  ItemsInProgress: gauge('items', ITEMS, ['status', 'in_progress']),
  ItemsCompleted: gauge('items', ITEMS, ['status', 'completed']),
  ItemsFailed: gauge('items', ITEMS, ['status', 'failed']),
  ItemsSkipped: gauge('items', ITEMS, ['status', 'skipped']),
  AgentsOk: gauge('agents', AGENTS, ['state', 'ok']),
  AgentsWarning: gauge('agents', AGENTS, ['state', 'warning']),
  AgentsCritical: gauge('agents', AGENTS, ['state', 'critical']),
  PlatformAlert: gauge('platform_alert', '1 while so many agents are silent that the service itself is suspected'),
  OutboxAgeSeconds: { ...gauge('outbox_age_seconds', 'age of the oldest notice that was not delivered; 0 = none waits'), unit: 'Seconds' },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
type OfKind<K extends Metric['kind']> = { [N in MetricName]: (typeof METRICS)[N]['kind'] extends K ? N : never }[MetricName];
export type CounterName = OfKind<'counter'>;
export type DurationName = OfKind<'duration'>;
export type GaugeName = OfKind<'gauge'>;

export type Gauges = { readonly [G in GaugeName]?: number };

export const METRIC_NAMESPACE = 'BlockRollout';
/** The one dimension of every metric in CloudWatch; its value is the stage. */
export const METRIC_DIMENSION = 'service';
