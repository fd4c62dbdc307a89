import type { CallContext, Telemetry } from '../adapters/observability/telemetry.ts';
import type { Services } from '../app/services.ts';
import type { FunctionName } from './environment.ts';
import { servicesFromEnvironment } from './services.ts';

export type Handler = (event: unknown, context: never) => Promise<unknown>;

/**
 * A Lambda entry point: services and handler are built at the first call and kept as long as the process lives, with their connections. When that
 * fails, each call says why and tries anew.
 */
export function coldStart(name: FunctionName, make: (services: Services) => Handler): Handler {
  let handler: Handler | null = null;
  return async (event, context) => {
    handler ??= fromEnvironment(name, make);
    return handler(event, context);
  };
}

function fromEnvironment(name: FunctionName, make: (services: Services) => Handler): Handler {
  const { services, telemetry } = servicesFromEnvironment(name, process.env);
  return observed(telemetry, make(services));
}

/** Lines of a call name it, and its numbers go out at its end; the same on Lambda and in the embedded runtime. */
export const observed =
  (telemetry: Pick<Telemetry, 'call'>, handler: Handler): Handler =>
  (event, context) =>
    telemetry.call(context as CallContext, () => handler(event, context));
