import { enqueuePage } from '../../lib/app/engine/enqueue-page.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { enqueuePageInput, enqueuePageOutput } from '../../lib/contracts/workflow/enqueue.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: CoreServices) =>
  workflowHandler(services, 'enqueue', {
    EnqueuePage: step(enqueuePageInput, enqueuePageOutput, (s, input) => enqueuePage(s.engine, input)),
  });

export const handler = coreStart('enqueue-page', makeHandler);
