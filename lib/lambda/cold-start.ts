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
    handler ??= make(servicesFromEnvironment(name, process.env));
    return handler(event, context);
  };
}
