import { planPages } from '../../lib/app/engine/enqueue-pages.ts';
import type { Services } from '../../lib/app/services.ts';
import { planPagesInput, planPagesOutput } from '../../lib/contracts/workflow/enqueue.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: Services) =>
  workflowHandler(services, 'enqueue', {
    PlanPages: step(planPagesInput, planPagesOutput, (s, input) => planPages(s.engine, input)),
  });

export const handler = coldStart('enqueue-plan', makeHandler);
