import { documentClient } from '../adapters/dynamodb/client.ts';
import { jsonLog } from '../adapters/observability/log.ts';
import { stepFunctionsStarter } from '../adapters/stepfunctions/starter.ts';
import { SystemClock } from '../adapters/system/clock.ts';
import { NunjucksRenderer } from '../adapters/templates/renderer.ts';
import type { Services } from '../app/services.ts';
import { compose } from './compose.ts';
import { type Environment, type FunctionName, readEnvironment } from './environment.ts';

/** The services of a function on AWS. */
export const servicesFromEnvironment = (name: FunctionName, values: Readonly<Record<string, string | undefined>>): Services =>
  servicesOf(readEnvironment(name, values), process.stdout);

/** For a person's command that works on the table of a deployment and on nothing else; what it says goes to stdout, its log does not. */
export const servicesOfTable = (table: string): Services => servicesOf({ TABLE_NAME: table }, process.stderr);

function servicesOf(environment: Environment, log: { write(text: string): unknown }): Services {
  const { TABLE_NAME, WAVE_MACHINE_ARN, ENQUEUE_MACHINE_ARN, WAVE_DEFINITION } = environment;
  const clock = new SystemClock();
  return compose({
    sender: documentClient({}),
    table: TABLE_NAME,
    clock,
    log: jsonLog(clock, (line) => log.write(`${line}\n`)),
    random: Math.random,
    renderer: new NunjucksRenderer(),
    workflows: stepFunctionsStarter({ wave: WAVE_MACHINE_ARN ?? null, enqueue: ENQUEUE_MACHINE_ARN ?? null }),
    // A process is frozen once it has answered: nothing may be put off.
    gatherMs: 0,
    ...(WAVE_DEFINITION === undefined ? {} : { definition: WAVE_DEFINITION }),
  }).services;
}
