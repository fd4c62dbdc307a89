import { planPages } from '../../lib/app/engine/enqueue-pages.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { planPagesInput, planPagesOutput } from '../../lib/contracts/workflow/enqueue.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: CoreServices) =>
  workflowHandler(services, 'enqueue', {
    PlanPages: step(planPagesInput, planPagesOutput, (s, input) => planPages(s.engine, input)),
  });

export const handler = coreStart('enqueue-plan', makeHandler);
