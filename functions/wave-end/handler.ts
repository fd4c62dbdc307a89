import { recordFailure } from '../../lib/app/engine/executions.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { recordFailureInput, recordFailureOutput } from '../../lib/contracts/workflow/wave.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

/** RecordFailure of both state machines. */
export const makeHandler = (services: CoreServices) =>
  workflowHandler(services, 'record', {
    RecordFailure: step(recordFailureInput, recordFailureOutput, (s, input) => recordFailure(s.engine, input)),
  });

export const handler = coreStart('wave-end', makeHandler);
