import { dispatchBatch } from '../../lib/app/engine/dispatch-batch.ts';
import type { Services } from '../../lib/app/services.ts';
import { dispatchBatchInput, dispatchBatchOutput } from '../../lib/contracts/workflow/wave.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: Services) =>
  workflowHandler(services, 'dispatch', {
    DispatchBatch: step(dispatchBatchInput, dispatchBatchOutput, (s, input) => dispatchBatch(s.engine, input)),
  });

export const handler = coldStart('wave-dispatch', makeHandler);
