import * as enqueuePage from '../functions/enqueue-page/handler.ts';
import * as enqueuePlan from '../functions/enqueue-plan/handler.ts';
import * as executionWatch from '../functions/execution-watch/handler.ts';
import * as outbox from '../functions/outbox/handler.ts';
import { handler as renderHandler } from '../functions/render/handler.ts';
import * as tick from '../functions/tick/handler.ts';
import * as trigger from '../functions/trigger/handler.ts';
import * as waveAwait from '../functions/wave-await/handler.ts';
import * as waveDispatch from '../functions/wave-dispatch/handler.ts';
import * as waveEnd from '../functions/wave-end/handler.ts';
import * as wavePlan from '../functions/wave-plan/handler.ts';
import type { Telemetry } from '../lib/adapters/observability/telemetry.ts';
import type { NoticeServices } from '../lib/app/notify/ports.ts';
import type { Services } from '../lib/app/services.ts';
import type { RenderRequest } from '../lib/contracts/render.ts';
import { observed } from '../lib/lambda/once.ts';
import { type LocalContext, type LocalHandler, localContext } from './lambda.ts';

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
export type FunctionName = keyof typeof MAKERS | 'outbox';
export type LocalFunctions = Readonly<Record<FunctionName, LocalHandler>>;

export function localFunctions(services: Services, notices: NoticeServices, telemetry: Telemetry): LocalFunctions {
  const called = (handler: Made): LocalHandler => {
    const seen = observed(telemetry, async (event, context) => handler(event as never, context));
    return (event: unknown, context: LocalContext): Promise<unknown> => seen(event, context as never);
  };
  const handlers = Object.entries(MAKERS).map(([name, { makeHandler }]) => [name, called(makeHandler(services))]);
  const deliver = called(outbox.makeHandler(notices));
  return {
    ...(Object.fromEntries(handlers) as Omit<LocalFunctions, 'outbox'>),
    outbox: (event, context) => services.units.within('outbox', () => deliver(event, context)),
  };
}

type Made = (event: never, context: never) => unknown;

/** One for this process, however many runtimes there are: its worker is started with the first template. */
export const render = (request: RenderRequest): Promise<unknown> => renderHandler(request, localContext('render', 'local') as never);
