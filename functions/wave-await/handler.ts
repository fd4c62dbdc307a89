import * as z from 'zod';
import { awaitWave } from '../../lib/app/engine/wake.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { awaitProgressInput } from '../../lib/contracts/workflow/wave.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: CoreServices) =>
  workflowHandler(services, 'await', { AwaitProgress: step(awaitProgressInput, z.void(), (s, input) => awaitWave(s.engine, input)) });

export const handler = coreStart('wave-await', makeHandler);
