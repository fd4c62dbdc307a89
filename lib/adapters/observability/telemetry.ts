import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger as LambdaLogger, LogFormatter, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, LogLevel, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import type { Clock, Logger, Metrics } from '../../app/ports.ts';
import { EmfMetrics } from './emf.ts';
import { fieldsOf } from './line.ts';
import { MetricRegistry } from './registry.ts';

/** Which call of which function; Lambda's context and its local stand-in have both. */
export interface CallContext {
  readonly functionName: string;
  readonly awsRequestId: string;
}

/** Log and numbers of a process. */
export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** One call of a function: its lines name it, its numbers go out at its end. */
  call<T>(context: CallContext, work: () => Promise<T>): Promise<T>;
}

const LEVELS = ['info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

const loggerOf = (write: (level: Level, event: string, fields: Record<string, unknown>) => void): Logger => {
  const at =
    (level: Level): Logger['info'] =>
    (event, fields = {}) =>
      write(level, event, fieldsOf(fields));
  return { info: at('info'), warn: at('warn'), error: at('error') };
};

/** The embedded runtime: lines go to `write`, numbers stay in this process. */
export function localTelemetry(clock: Pick<Clock, 'now'>, write: (line: string) => void): Telemetry {
  const calls = new AsyncLocalStorage<CallContext>();
  const log = loggerOf((level, event, fields) => {
    const { functionName, awsRequestId } = calls.getStore() ?? {};
    const head = { timestamp: new Date(clock.now()).toISOString(), level: level.toUpperCase(), event };
    write(JSON.stringify({ ...head, function: functionName, request_id: awsRequestId, ...fields }));
  });
  return { log, metrics: new MetricRegistry(), call: (context, work) => calls.run(context, work) };
}

/** The same fields in the same places, with Lambda's trace. */
class LineFormatter extends LogFormatter {
  override formatAttributes(base: UnformattedAttributes, fields: LogAttributes): LogItem {
    const attributes = {
      timestamp: base.timestamp.toISOString(),
      level: base.logLevel,
      event: base.message,
      function: base.lambdaContext?.functionName,
      request_id: base.lambdaContext?.awsRequestId,
      trace: base.xRayTraceId,
      ...fields,
    };
    return new LogItem({ attributes });
  }
}

export interface LambdaTelemetryOptions {
  /** Name of the deployment; left out: `default`. */
  readonly stage?: string | undefined;
  /** Left out: INFO. */
  readonly level?: LogLevel | undefined;
}

/** On Lambda, where a process serves one call at a time. */
export function lambdaTelemetry(clock: Pick<Clock, 'now'>, { stage = 'default', level = 'INFO' }: LambdaTelemetryOptions = {}): Telemetry {
  const lines = new LambdaLogger({ logLevel: level, logFormatter: new LineFormatter() });
  const metrics = new EmfMetrics(clock, stage);
  return {
    log: loggerOf((at, event, fields) => lines[at](event, fields)),
    metrics,
    async call(context, work) {
      lines.addContext(context as Parameters<LambdaLogger['addContext']>[0]);
      try {
        return await work();
      } finally {
        metrics.flush();
      }
    },
  };
}
