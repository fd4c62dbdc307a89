import { documentClient } from '../adapters/dynamodb/client.ts';
import { jsonLog } from '../adapters/observability/log.ts';
import { stepFunctionsStarter } from '../adapters/stepfunctions/starter.ts';
import { SystemClock } from '../adapters/system/clock.ts';
import { NunjucksRenderer } from '../adapters/templates/renderer.ts';
import type { Services } from '../app/services.ts';
import { compose } from './compose.ts';
import { readEnvironment } from './environment.ts';

/** The services of a function on AWS. */
export function servicesFromEnvironment(values: Readonly<Record<string, string | undefined>>): Services {
  const environment = readEnvironment(values);
  const clock = new SystemClock();
  return compose({
    sender: documentClient({}),
    table: environment.TABLE_NAME,
    clock,
    log: jsonLog(clock, (line) => process.stdout.write(`${line}\n`)),
    random: Math.random,
    renderer: new NunjucksRenderer(),
    workflows: stepFunctionsStarter({ wave: environment.WAVE_MACHINE_ARN, enqueue: environment.ENQUEUE_MACHINE_ARN }),
    gatherMs: 0,
    ...(environment.WAVE_DEFINITION === undefined ? {} : { definition: environment.WAVE_DEFINITION }),
  }).services;
}
