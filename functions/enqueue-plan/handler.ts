import { finishEnqueue, planPages } from '../../lib/app/engine/enqueue-pages.ts';
import type { Services } from '../../lib/app/services.ts';
import * as enqueue from '../../lib/contracts/workflow/enqueue.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

/** PlanPages and Finish of enqueue.asl.json. */
export const makeHandler = (services: Services) =>
  workflowHandler(services, 'enqueue', {
    PlanPages: step(enqueue.planPagesInput, enqueue.planPagesOutput, (s, input) => planPages(s.engine, input)),
    Finish: step(enqueue.finishEnqueueInput, enqueue.finishEnqueueOutput, (s, input) => finishEnqueue(s.engine, input)),
  });

export const handler = coldStart('enqueue-plan', makeHandler);
