import { NO_SCHEDULER } from '../adapters/scheduler/none.ts';
import type { CoreServices } from '../app/services.ts';
import { composeCore } from './compose-core.ts';
import type { FunctionName } from './environment.ts';
import { configured, foundationsOf } from './foundations.ts';
import { type Handler, observed, once } from './once.ts';

/** The entry point of a function that drives waves or serves agents, and makes no schedules: a smaller bundle starts sooner. */
export const coreStart = (name: FunctionName, make: (services: CoreServices) => Handler): Handler =>
  once(() => {
    const { environment, telemetry } = configured(name);
    return observed(telemetry, make(composeCore(foundationsOf(environment, telemetry, NO_SCHEDULER)).services));
  });
