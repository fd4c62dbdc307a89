import { enqueuePage } from '../../lib/app/engine/enqueue-page.ts';
import type { Services } from '../../lib/app/services.ts';
import { enqueuePageInput, enqueuePageOutput } from '../../lib/contracts/workflow/enqueue.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: Services) =>
  workflowHandler(services, 'enqueue', {
    EnqueuePage: step(enqueuePageInput, enqueuePageOutput, (s, input) => enqueuePage(s.engine, input)),
  });

export const handler = coldStart('enqueue-page', makeHandler);
