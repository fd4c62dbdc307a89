import type { Services } from '../../lib/app/services.ts';
import { makeApi } from '../../lib/http/api.ts';
import type { HttpEvent } from '../../lib/http/event.ts';
import { handlersOf } from '../../lib/http/handlers/index.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';

/** The people's API; `checkAnswers` = each answer is checked against the contract, for tests and local runs. */
export const makeHandler = (services: Services, checkAnswers = false) => {
  const { clock, log, idempotency, resources } = services;
  const once = { clock, log, idempotency, digest: (text: string) => resources.crypto.sha256(text) };
  const handle = makeApi(once, handlersOf(services), { check_answers: checkAnswers });
  return (event: unknown, context: never) => services.units.within('api', async () => handle(event as HttpEvent, context));
};

export const handler = coldStart('api', makeHandler);
