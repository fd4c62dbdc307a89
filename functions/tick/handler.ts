import middy from '@middy/core';
import { seed } from '../../lib/app/engine/seed.ts';
import type { Services } from '../../lib/app/services.ts';
import { minuteTick } from '../../lib/app/tick.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';

/** Called by the scheduler each minute. The first of a process makes what every installation has, so that an upgrade brings it along. */
export const makeHandler = (services: Services) => {
  let seeded = false;
  const tick = async (): Promise<void> => {
    if (!seeded) await seed(services.engine);
    seeded = true;
    await minuteTick(services);
  };
  return middy(() => services.units.within('tick', tick));
};

export const handler = coldStart('tick', makeHandler);
