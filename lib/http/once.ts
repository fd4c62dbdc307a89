import { conflict, invalid } from '../app/errors.ts';
import type { IdempotencyStore } from '../app/idempotency.ts';
import type { Caller } from '../app/keys/authenticate.ts';
import type { Clock, Logger } from '../app/ports.ts';
import type { RouteSpec } from '../contracts/api/route.ts';
import type { HttpEvent, Reply } from './event.ts';

export interface OnceServices {
  readonly clock: Clock;
  readonly log: Logger;
  readonly idempotency: IdempotencyStore;
  readonly digest: (text: string) => string;
}

const HEADER = 'Idempotency-Key';
const FORM = /^[\x21-\x7e]{1,255}$/;

/** SPEC §9: `Idempotency-Key` is honoured on every POST: what succeeded is answered again, not done again; what was refused may be tried again. */
export async function once(
  services: OnceServices,
  spec: RouteSpec,
  event: HttpEvent,
  caller: Caller | null,
  work: () => Promise<Reply>,
): Promise<Reply> {
  const key = spec.method === 'POST' && caller !== null ? event.headers['idempotency-key'] : undefined;
  if (key === undefined || caller === null) return work();
  if (!FORM.test(key)) throw invalid(HEADER, 'must be 1 to 255 printable ASCII characters without blanks.');
  const request = services.digest(JSON.stringify([event.rawPath, event.rawQueryString ?? '', event.body ?? '']));
  const begun = await services.idempotency.begin(caller.key_id, key, request, services.clock.now());
  if (begun.kind === 'replay') return { status: begun.status, body: begun.body, headers: { 'idempotent-replayed': 'true' } };
  if (begun.kind === 'mismatch') throw invalid(HEADER, 'was used for another request; take a new one for each request.');
  if (begun.kind === 'in_progress')
    throw conflict('The first request with this Idempotency-Key is still being worked on; ask again in a moment.');
  return keep(services, spec, caller.key_id, key, work);
}

async function keep(services: OnceServices, spec: RouteSpec, owner: string, key: string, work: () => Promise<Reply>): Promise<Reply> {
  const { idempotency, log } = services;
  let answer: Reply;
  try {
    answer = await work();
  } catch (error) {
    await idempotency.release(owner, key).catch((cause: unknown) => log.warn('idempotency_not_released', { error: String(cause) }));
    throw error;
  }
  await idempotency
    .finish(owner, key, answer.status, withoutSecrets(answer.body, spec.secrets ?? []))
    .catch((cause: unknown) => log.warn('idempotency_not_kept', { error: String(cause) }));
  return answer;
}

/** A new key is shown once: the repeated answer has null in its place. */
function withoutSecrets(body: unknown, secrets: readonly string[]): unknown {
  if (typeof body !== 'object' || body === null || secrets.length === 0) return body;
  return Object.fromEntries(Object.entries(body).map(([field, value]) => [field, secrets.includes(field) ? null : value]));
}
