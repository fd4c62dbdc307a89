import middy from '@middy/core';
import type { Services } from '../../lib/app/services.ts';
import { minuteTick } from '../../lib/app/tick.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';

/** Called by the scheduler each minute. */
export const makeHandler = (services: Services) => middy(() => services.units.within('tick', () => minuteTick(services)));

export const handler = coldStart('tick', makeHandler);
