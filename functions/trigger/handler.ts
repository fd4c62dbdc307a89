import middy from '@middy/core';
import { readTriggerCall, startRun, trigger } from '../../lib/app/schedules/trigger.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';

/** Target of the schedules of cron configs, and of agent-api, which may start no execution itself; an administrator may call it by hand. */
export const makeHandler = (services: CoreServices) =>
  middy(async (event: unknown) => {
    const call = readTriggerCall(event);
    return services.units.within<unknown>('trigger', () =>
      'enqueue_run' in call ? startRun(services.engine, call) : trigger(services.engine, call),
    );
  });

export const handler = coreStart('trigger', makeHandler);
