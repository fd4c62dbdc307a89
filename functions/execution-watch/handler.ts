import middy from '@middy/core';
import { executionWatch } from '../../lib/app/engine/executions.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { executionStatusChange } from '../../lib/contracts/workflow/events.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';

/** Target of the rule for "Step Functions Execution Status Change". */
export const makeHandler = (services: CoreServices) =>
  middy(async (event: unknown) => {
    const { name, status, error, input } = executionStatusChange.parse(event).detail;
    if (status === 'RUNNING' || status === 'PENDING_REDRIVE') return;
    await executionWatch(services.engine, { execution: name, status, error: error ?? null, input: input ?? null });
  });

export const handler = coreStart('execution-watch', makeHandler);
