import { documentClient } from '../adapters/dynamodb/client.ts';
import { jsonLog } from '../adapters/observability/log.ts';
import { stepFunctionsStarter } from '../adapters/stepfunctions/starter.ts';
import { SystemClock } from '../adapters/system/clock.ts';
import { NunjucksRenderer } from '../adapters/templates/renderer.ts';
import type { Services } from '../app/services.ts';
import { compose } from './compose.ts';
import { type FunctionName, readEnvironment } from './environment.ts';

/** The services of a function on AWS. */
export function servicesFromEnvironment(name: FunctionName, values: Readonly<Record<string, string | undefined>>): Services {
  const { TABLE_NAME, WAVE_MACHINE_ARN, ENQUEUE_MACHINE_ARN, WAVE_DEFINITION } = readEnvironment(name, values);
  const clock = new SystemClock();
  return compose({
    sender: documentClient({}),
    table: TABLE_NAME,
    clock,
    log: jsonLog(clock, (line) => process.stdout.write(`${line}\n`)),
    random: Math.random,
    renderer: new NunjucksRenderer(),
    workflows: stepFunctionsStarter({ wave: WAVE_MACHINE_ARN ?? null, enqueue: ENQUEUE_MACHINE_ARN ?? null }),
    // A process is frozen once it has answered: nothing may be put off.
    gatherMs: 0,
    ...(WAVE_DEFINITION === undefined ? {} : { definition: WAVE_DEFINITION }),
  }).services;
}
