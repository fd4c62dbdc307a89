import * as enqueuePage from '../functions/enqueue-page/handler.ts';
import * as enqueuePlan from '../functions/enqueue-plan/handler.ts';
import * as executionWatch from '../functions/execution-watch/handler.ts';
import * as tick from '../functions/tick/handler.ts';
import * as trigger from '../functions/trigger/handler.ts';
import * as waveAwait from '../functions/wave-await/handler.ts';
import * as waveDispatch from '../functions/wave-dispatch/handler.ts';
import * as waveEnd from '../functions/wave-end/handler.ts';
import * as wavePlan from '../functions/wave-plan/handler.ts';
import type { Telemetry } from '../lib/adapters/observability/telemetry.ts';
import type { Services } from '../lib/app/services.ts';
import { observed } from '../lib/lambda/cold-start.ts';
import type { LocalContext, LocalHandler } from './lambda.ts';

/** The functions of the deployment, by the names of their folders, as the embedded runtime calls them. */
const MAKERS = {
  'wave-plan': wavePlan,
  'wave-dispatch': waveDispatch,
  'wave-await': waveAwait,
  'wave-end': waveEnd,
  'enqueue-plan': enqueuePlan,
  'enqueue-page': enqueuePage,
  'execution-watch': executionWatch,
  tick,
  trigger,
} as const;
export type FunctionName = keyof typeof MAKERS;
export type LocalFunctions = Readonly<Record<FunctionName, LocalHandler>>;

export function localFunctions(services: Services, telemetry: Telemetry): LocalFunctions {
  const entries = Object.entries(MAKERS).map(([name, { makeHandler }]): [string, LocalHandler] => {
    const handler = makeHandler(services);
    const seen = observed(telemetry, async (event, context) => handler(event as never, context));
    return [name, (event: unknown, context: LocalContext): Promise<unknown> => seen(event, context as never)];
  });
  return Object.fromEntries(entries) as LocalFunctions;
}
