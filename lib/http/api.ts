import middy from '@middy/core';
import * as z from 'zod';
import { actorOf } from '../app/keys/authenticate.ts';
import type { RouteSpec } from '../contracts/api/route.ts';
import { type NamedRoute, namedRoutes } from '../contracts/api/route.ts';
import { apiRoutes } from '../contracts/api/routes.ts';
import type { Call, Handlers, RawBody } from './api-types.ts';
import { DEFAULT_MAX_BYTES, jsonBody, queryOf, rawBody } from './body.ts';
import { authorize, callerOf } from './caller.ts';
import { type HttpEvent, type HttpResult, originOf, type Reply, requestIdOf, resultOf } from './event.ts';
import { failed } from './failed.ts';
import { type OnceServices, once } from './once.ts';
import { Router } from './router.ts';
import { refuseUnkept, validated } from './validate.ts';

export interface ApiOptions {
  /** Checks each answer against its schema; on in tests and local runs, off where requests are paid for. */
  readonly check_answers: boolean;
}

type AnyHandler = (call: Call<never, never>) => Promise<Reply>;
type Served = NamedRoute & { readonly handler: AnyHandler };

/** Operations without parameters refuse them by name. */
const NOTHING = z.strictObject({});

/** The people's API: one function for all its routes. */
export function makeApi(services: OnceServices, handlers: Handlers, options: ApiOptions) {
  const router = new Router(served(handlers));

  async function serve(event: HttpEvent): Promise<HttpResult> {
    const { route, id } = router.match(event.requestContext.http.method, event.rawPath);
    const caller = route.spec.right === 'public' ? null : callerOf(event);
    authorize(caller, route.spec.right);
    const call = { ...callOf(route.spec, event), id, caller, actor: caller === null ? 'nobody' : actorOf(caller) };
    const reply = await once(services, route.spec, event, caller, () => route.handler(call as Call<never, never>));
    if (options.check_answers) checkAnswer(route, reply);
    return resultOf(reply, requestIdOf(event));
  }

  return middy<HttpEvent, HttpResult>()
    .onError((request) => {
      request.response = failed(request.error, request.event, services.log);
    })
    .handler(serve);
}

function served(handlers: Handlers): Served[] {
  const nested: Readonly<Record<string, Readonly<Record<string, unknown>>>> = handlers;
  return namedRoutes(apiRoutes).map((route) => ({ ...route, handler: nested[route.resource]?.[route.verb] as AnyHandler }));
}

function callOf(spec: RouteSpec, event: HttpEvent) {
  const origin = originOf(event);
  const query = queryOf(event);
  return {
    query: spec.query === undefined ? validated(NOTHING, query) : validated(spec.query, query),
    body: bodyOf(spec, event),
    has_body: event.body !== undefined && event.body !== '',
    origin,
    address: new URL(`${event.rawPath}${event.rawQueryString ? `?${event.rawQueryString}` : ''}`, origin),
  };
}

function bodyOf(spec: RouteSpec, event: HttpEvent): unknown {
  const limit = spec.max_bytes ?? DEFAULT_MAX_BYTES;
  if (spec.request === undefined) return undefined;
  if (spec.request !== 'raw') {
    const body = jsonBody(event, limit);
    refuseUnkept(body);
    return validated(spec.request, body);
  }
  const bytes = rawBody(event, limit) ?? Buffer.alloc(0);
  return { bytes, content_type: event.headers['content-type'] ?? null } satisfies RawBody;
}

/** A contract that only the document keeps is none: an answer that breaks it fails loudly where nobody is hurt. */
function checkAnswer({ operation, spec }: NamedRoute, { status, body }: Reply): void {
  const schema = spec.answers[status];
  if (schema === undefined) throw new Error(`${operation} answered ${status}, which it does not document`);
  const problems = schema?.safeParse(body).error?.issues ?? [];
  if (problems.length > 0) throw new Error(`${operation} broke its contract: ${JSON.stringify(problems)}`);
}
