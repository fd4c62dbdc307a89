import middy from '@middy/core';
import { readTriggerCall, startRun, trigger } from '../../lib/app/schedules/trigger.ts';
import type { Services } from '../../lib/app/services.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';

/** Target of the schedules of cron configs, and of agent-api, which may start no execution itself; an administrator may call it by hand. */
export const makeHandler = (services: Services) =>
  middy(async (event: unknown) => {
    const call = readTriggerCall(event);
    return services.units.within<unknown>('trigger', () =>
      'enqueue_run' in call ? startRun(services.engine, call) : trigger(services.engine, call),
    );
  });

export const handler = coldStart('trigger', makeHandler);
