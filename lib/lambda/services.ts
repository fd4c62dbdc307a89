import { localTelemetry, type Telemetry } from '../adapters/observability/telemetry.ts';
import { schedulerFrom } from '../adapters/scheduler/eventbridge.ts';
import type { Services } from '../app/services.ts';
import { compose } from './compose.ts';
import type { Environment } from './environment.ts';
import { clock, foundationsOf } from './foundations.ts';

/** The whole program on AWS. */
export function servicesOf(environment: Environment, telemetry: Telemetry): Services {
  const scheduler = schedulerFrom({
    group: environment.SCHEDULE_GROUP_NAME,
    role_arn: environment.SCHEDULE_ROLE_ARN,
    function_arn: environment.TRIGGER_FUNCTION_ARN,
    dead_letter_arn: environment.SCHEDULE_DLQ_ARN,
  });
  return compose(foundationsOf(environment, telemetry, scheduler)).services;
}

/** For a person's command that works on the table of a deployment and on nothing else; what it says goes to stdout, its log does not. */
export const servicesOfTable = (table: string): Services =>
  servicesOf(
    { TABLE_NAME: table },
    localTelemetry(clock, (line) => process.stderr.write(`${line}\n`)),
  );
