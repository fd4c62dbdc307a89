import { documentClient } from '../adapters/dynamodb/client.ts';
import { askedStarter } from '../adapters/lambda/asked-starter.ts';
import { caller, outboxStarter } from '../adapters/lambda/invoke.ts';
import { lambdaTelemetry, localTelemetry, type Telemetry } from '../adapters/observability/telemetry.ts';
import { schedulerFrom } from '../adapters/scheduler/eventbridge.ts';
import { stepFunctionsStarter } from '../adapters/stepfunctions/starter.ts';
import { SystemClock } from '../adapters/system/clock.ts';
import { RemoteRenderer } from '../adapters/templates/remote-renderer.ts';
import type { WorkflowStarter } from '../app/ports.ts';
import type { Services } from '../app/services.ts';
import { compose } from './compose.ts';
import { type Environment, type FunctionName, readEnvironment } from './environment.ts';

const clock = new SystemClock();

/** The services of a function on AWS, with what it logs and counts with. */
export function servicesFromEnvironment(
  name: FunctionName,
  values: Readonly<Record<string, string | undefined>>,
): { readonly services: Services; readonly telemetry: Telemetry } {
  const environment = readEnvironment(name, values);
  const telemetry = lambdaTelemetry(clock, { stage: environment.STAGE, level: environment.LOG_LEVEL });
  return { services: servicesOf(environment, telemetry), telemetry };
}

/** For a person's command that works on the table of a deployment and on nothing else; what it says goes to stdout, its log does not. */
export const servicesOfTable = (table: string): Services =>
  servicesOf(
    { TABLE_NAME: table },
    localTelemetry(clock, (line) => process.stderr.write(`${line}\n`)),
  );

function servicesOf(environment: Environment, { log, metrics }: Telemetry): Services {
  const { TABLE_NAME, WAVE_DEFINITION, OUTBOX_FUNCTION_NAME, RENDER_FUNCTION_NAME } = environment;
  return compose({
    sender: documentClient({}),
    table: TABLE_NAME,
    clock,
    log,
    metrics,
    random: Math.random,
    renderer: new RemoteRenderer(caller(RENDER_FUNCTION_NAME, 'RENDER_FUNCTION_NAME')),
    workflows: starterOf(environment),
    scheduler: schedulerFrom({
      group: environment.SCHEDULE_GROUP_NAME,
      role_arn: environment.SCHEDULE_ROLE_ARN,
      function_arn: environment.TRIGGER_FUNCTION_ARN,
      dead_letter_arn: environment.SCHEDULE_DLQ_ARN,
    }),
    outbox: outboxStarter(OUTBOX_FUNCTION_NAME),
    // A process is frozen once it has answered: nothing may be put off.
    gatherMs: 0,
    ...(WAVE_DEFINITION === undefined ? {} : { definition: WAVE_DEFINITION }),
  }).services;
}

/** A function that may start no enqueue run asks the one that may (DESIGN §6). */
function starterOf({ WAVE_MACHINE_ARN, ENQUEUE_MACHINE_ARN, TRIGGER_FUNCTION_ARN }: Environment): WorkflowStarter {
  const own = stepFunctionsStarter({ wave: WAVE_MACHINE_ARN ?? null, enqueue: ENQUEUE_MACHINE_ARN ?? null });
  return ENQUEUE_MACHINE_ARN === undefined && TRIGGER_FUNCTION_ARN !== undefined ? askedStarter(TRIGGER_FUNCTION_ARN, own) : own;
}
