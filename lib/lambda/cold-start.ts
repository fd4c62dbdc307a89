import type { Services } from '../app/services.ts';
import type { FunctionName } from './environment.ts';
import { configured } from './foundations.ts';
import { type Handler, observed, once } from './once.ts';
import { servicesOf } from './services.ts';

/** The entry point of a function that works with the whole program. */
export const coldStart = (name: FunctionName, make: (services: Services) => Handler): Handler =>
  once(() => {
    const { environment, telemetry } = configured(name);
    return observed(telemetry, make(servicesOf(environment, telemetry)));
  });
