import { recordFailure } from '../../lib/app/engine/executions.ts';
import type { Services } from '../../lib/app/services.ts';
import { recordFailureInput, recordFailureOutput } from '../../lib/contracts/workflow/wave.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

/** RecordFailure of both state machines. */
export const makeHandler = (services: Services) =>
  workflowHandler(services, 'record', {
    RecordFailure: step(recordFailureInput, recordFailureOutput, (s, input) => recordFailure(s.engine, input)),
  });

export const handler = coldStart('wave-end', makeHandler);
