import { finishEnqueue } from '../../lib/app/engine/enqueue-pages.ts';
import { continueAsNew } from '../../lib/app/engine/executions.ts';
import { planWave } from '../../lib/app/engine/plan-wave.ts';
import { resolveWave } from '../../lib/app/engine/resolve-wave.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { finishEnqueueInput, finishEnqueueOutput } from '../../lib/contracts/workflow/enqueue.ts';
import * as wave from '../../lib/contracts/workflow/wave.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';
import { step, workflowHandler } from '../../lib/lambda/step.ts';

/** Resolve, PlanWave and ContinueAsNew of wave.asl.json, and Finish of enqueue.asl.json: whatever starts drivers of waves. */
export const makeHandler = (services: CoreServices) =>
  workflowHandler(services, 'plan', {
    Resolve: step(wave.resolveInput, wave.resolveOutput, (s, input) => resolveWave(s.engine, input)),
    PlanWave: step(wave.planWaveInput, wave.planWaveOutput, (s, input) => planWave(s.engine, input)),
    ContinueAsNew: step(wave.continueAsNewInput, wave.continueAsNewOutput, (s, input) => continueAsNew(s.engine, input)),
    Finish: step(finishEnqueueInput, finishEnqueueOutput, (s, input) => finishEnqueue(s.engine, input)),
  });

export const handler = coreStart('wave-plan', makeHandler);
