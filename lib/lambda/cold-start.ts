import type { Services } from '../app/services.ts';
import type { FunctionName } from './environment.ts';
import { type Handler, observed, once } from './once.ts';
import { servicesFromEnvironment } from './services.ts';

/** The entry point of a function that works with the whole program. */
export const coldStart = (name: FunctionName, make: (services: Services) => Handler): Handler =>
  once(() => {
    const { services, telemetry } = servicesFromEnvironment(name, process.env);
    return observed(telemetry, make(services));
  });
