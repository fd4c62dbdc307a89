import { dispatchBatch } from '../../lib/app/engine/dispatch-batch.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { dispatchBatchInput, dispatchBatchOutput } from '../../lib/contracts/workflow/wave.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

export const makeHandler = (services: CoreServices) =>
  workflowHandler(services, 'dispatch', {
    DispatchBatch: step(dispatchBatchInput, dispatchBatchOutput, (s, input) => dispatchBatch(s.engine, input)),
  });

export const handler = coreStart('wave-dispatch', makeHandler);
