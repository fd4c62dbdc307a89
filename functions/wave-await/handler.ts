import * as z from 'zod';
import { awaitWave } from '../../lib/app/engine/wake.ts';
import type { Services } from '../../lib/app/services.ts';
import { awaitProgressInput } from '../../lib/contracts/workflow/wave.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: Services) =>
  workflowHandler(services, 'await', { AwaitProgress: step(awaitProgressInput, z.void(), (s, input) => awaitWave(s.engine, input)) });

export const handler = coldStart('wave-await', makeHandler);
