import type { MeasuredGauges, MetricTotals } from '../../app/ports.ts';
import { METRICS, type MetricName } from '../../contracts/telemetry/metrics.ts';

const PREFIX = 'block_rollout_';

/** The text format that Prometheus reads. */
export const METRICS_MEDIA = 'text/plain; version=0.0.4; charset=utf-8';

interface Family {
  readonly type: 'counter' | 'gauge' | 'summary';
  readonly help: string;
  readonly samples: string[];
}

/**
 * SPEC §9, §11: the numbers of the last tick and, where one process does everything, what it has counted. A number that nobody has measured is
 * left out: a page without it is right, a zero would not be.
 */
export function metricsPage(measured: MeasuredGauges | null, totals: MetricTotals | null, now: number): string {
  const families = new Map<string, Family>();
  for (const name of Object.keys(METRICS) as MetricName[]) addMetric(families, name, measured, totals);
  if (measured !== null) {
    const help = 'seconds since the last minute tick measured';
    families.set('tick_age_seconds', { type: 'gauge', help, samples: [`${PREFIX}tick_age_seconds ${(now - measured.at) / 1000}`] });
  }
  return [...families].flatMap(([name, family]) => textOf(`${PREFIX}${name}`, family)).join('');
}

function textOf(name: string, { type, help, samples }: Family): string[] {
  return samples.length === 0 ? [] : [`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join('\n')}\n`];
}

function addMetric(families: Map<string, Family>, name: MetricName, measured: MeasuredGauges | null, totals: MetricTotals | null): void {
  const metric = METRICS[name];
  const family = metric.kind === 'counter' ? `${metric.family}_total` : metric.family;
  const type = metric.kind === 'duration' ? 'summary' : metric.kind;
  const entry = families.get(family) ?? { type, help: metric.help, samples: [] };
  families.set(family, entry);
  if (metric.kind === 'duration') {
    const took = (totals?.durations as ReadonlyMap<MetricName, { count: number; seconds: number }> | undefined)?.get(name);
    if (took !== undefined) entry.samples.push(`${PREFIX}${family}_sum ${took.seconds}`, `${PREFIX}${family}_count ${took.count}`);
    return;
  }
  const value = sampleOf(name, measured, totals);
  if (value === null) return;
  const label = 'label' in metric ? `{${metric.label[0]}="${metric.label[1]}"}` : '';
  entry.samples.push(`${PREFIX}${family}${label} ${value}`);
}

function sampleOf(name: MetricName, measured: MeasuredGauges | null, totals: MetricTotals | null): number | null {
  if (METRICS[name].kind === 'gauge')
    return (measured?.gauges as Readonly<Partial<Record<MetricName, number>>> | undefined)?.[name] ?? null;
  return totals === null ? null : ((totals.counters as ReadonlyMap<MetricName, number>).get(name) ?? 0);
}
