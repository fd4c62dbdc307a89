import { Metrics as EmfLines } from '@aws-lambda-powertools/metrics';
import type { Clock, Metrics } from '../../app/ports.ts';
import {
  type CounterName,
  type DurationName,
  type Gauges,
  METRIC_NAMESPACE,
  METRICS,
  type MetricName,
} from '../../contracts/telemetry/metrics.ts';
import { MINUTE } from '../../domain/shared/time.ts';

/** A line takes at most so many values of one metric. */
const MOST_VALUES = 99;

/**
 * Numbers as log lines that CloudWatch turns into metrics (embedded metric format): no call, no permission. One line at the end of an
 * invocation; heartbeats alone are gathered for a minute, since a line for each would cost as much as its write.
 */
export class EmfMetrics implements Metrics {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #lines: EmfLines;
  readonly #counters = new Map<CounterName, number>();
  readonly #values = new Map<MetricName, number[]>();
  #flushed_at: number;

  /** @param stage the value of METRIC_DIMENSION, which the lines call `service` */
  constructor(clock: Pick<Clock, 'now'>, stage: string) {
    this.#clock = clock;
    this.#lines = new EmfLines({ namespace: METRIC_NAMESPACE, serviceName: stage });
    this.#flushed_at = clock.now();
  }

  count(name: CounterName, by = 1): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }

  took(name: DurationName, milliseconds: number): void {
    const values = this.#values.get(name) ?? [];
    this.#values.set(name, values);
    if (values.length < MOST_VALUES) values.push(milliseconds / 1000);
  }

  measured(gauges: Gauges): void {
    for (const [name, value] of Object.entries(gauges)) this.#values.set(name as MetricName, [value]);
  }

  totals(): null {
    return null;
  }

  /** At the end of an invocation. */
  flush(): void {
    const now = this.#clock.now();
    const beatsOnly = this.#values.size === 0 && [...this.#counters.keys()].every((name) => name === 'Heartbeats');
    if (beatsOnly && (this.#counters.size === 0 || now - this.#flushed_at < MINUTE)) return;
    for (const [name, by] of this.#counters) this.#lines.addMetric(name, METRICS[name].unit, by);
    for (const [name, values] of this.#values) for (const value of values) this.#lines.addMetric(name, METRICS[name].unit, value);
    this.#lines.publishStoredMetrics();
    this.#counters.clear();
    this.#values.clear();
    this.#flushed_at = now;
  }
}
