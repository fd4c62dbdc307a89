import type { Services } from '../app/services.ts';
import { servicesFromEnvironment } from './services.ts';

export type Handler = (event: unknown, context: never) => Promise<unknown>;

/** A Lambda entry point: services and handler are built at the first call and kept as long as the process lives. */
export function coldStart(make: (services: Services) => Handler): Handler {
  let handler: Handler | null = null;
  return (event, context) => {
    handler ??= make(servicesFromEnvironment(process.env));
    return handler(event, context);
  };
}
