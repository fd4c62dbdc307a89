import type { Metrics, MetricTotals } from '../../app/ports.ts';
import type { CounterName, DurationName } from '../../contracts/telemetry/metrics.ts';

/** Counts in this process, which does everything: the embedded runtime and tests. Gauges are read from their row. */
export class MetricRegistry implements Metrics {
  readonly #counters = new Map<CounterName, number>();
  readonly #durations = new Map<DurationName, { count: number; seconds: number }>();

  count(name: CounterName, by = 1): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }

  took(name: DurationName, milliseconds: number): void {
    const { count, seconds } = this.#durations.get(name) ?? { count: 0, seconds: 0 };
    this.#durations.set(name, { count: count + 1, seconds: seconds + milliseconds / 1000 });
  }

  measured(): void {
    // The tick's row has them.
  }

  totals(): MetricTotals {
    return { counters: this.#counters, durations: this.#durations };
  }
}
