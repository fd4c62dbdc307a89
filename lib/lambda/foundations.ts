import { documentClient } from '../adapters/dynamodb/client.ts';
import { askedStarter } from '../adapters/lambda/asked-starter.ts';
import { caller, outboxStarter } from '../adapters/lambda/invoke.ts';
import type { Telemetry } from '../adapters/observability/telemetry.ts';
import { lambdaTelemetry } from '../adapters/observability/telemetry.ts';
import { stepFunctionsStarter } from '../adapters/stepfunctions/starter.ts';
import { SystemClock } from '../adapters/system/clock.ts';
import { RemoteRenderer } from '../adapters/templates/remote-renderer.ts';
import type { Scheduler, WorkflowStarter } from '../app/ports.ts';
import type { Foundations } from './compose-core.ts';
import { type Environment, type FunctionName, readEnvironment } from './environment.ts';

export const clock = new SystemClock();

/** What a function is configured with, and what it logs and counts with. */
export function configured(name: FunctionName): { readonly environment: Environment; readonly telemetry: Telemetry } {
  const environment = readEnvironment(name, process.env);
  return { environment, telemetry: lambdaTelemetry(clock, { stage: environment.STAGE, level: environment.LOG_LEVEL }) };
}

/** What the program stands on, on AWS. */
export function foundationsOf(environment: Environment, { log, metrics }: Telemetry, scheduler: Scheduler): Foundations {
  const { TABLE_NAME, WAVE_DEFINITION, OUTBOX_FUNCTION_NAME, RENDER_FUNCTION_NAME } = environment;
  return {
    sender: documentClient({}),
    table: TABLE_NAME,
    clock,
    log,
    metrics,
    random: Math.random,
    renderer: new RemoteRenderer(caller(RENDER_FUNCTION_NAME, 'RENDER_FUNCTION_NAME')),
    workflows: starterOf(environment),
    scheduler,
    outbox: outboxStarter(OUTBOX_FUNCTION_NAME),
    // A process is frozen once it has answered: nothing may be put off.
    gatherMs: 0,
    ...(WAVE_DEFINITION === undefined ? {} : { definition: WAVE_DEFINITION }),
  };
}

/** A function that may start no enqueue run asks the one that may (DESIGN §6). */
function starterOf({ WAVE_MACHINE_ARN, ENQUEUE_MACHINE_ARN, TRIGGER_FUNCTION_ARN }: Environment): WorkflowStarter {
  const own = stepFunctionsStarter({ wave: WAVE_MACHINE_ARN ?? null, enqueue: ENQUEUE_MACHINE_ARN ?? null });
  return ENQUEUE_MACHINE_ARN === undefined && TRIGGER_FUNCTION_ARN !== undefined ? askedStarter(TRIGGER_FUNCTION_ARN, own) : own;
}
