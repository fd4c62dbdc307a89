import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { errorBody } from '../../../lib/contracts/api/errors.ts';
import { type NamedRoute, namedRoutes } from '../../../lib/contracts/api/route.ts';
import { agentRoutes } from '../../../lib/contracts/api/routes/agent.ts';
import { apiRoutes, everyRoute } from '../../../lib/contracts/api/routes.ts';
import { refusalsOf } from '../../../lib/http/openapi.ts';
import { type Answered, type Api, startApi } from '../../support/api.ts';
import { makeFleet } from '../../support/api-fleet.ts';

/** Each refusal that a route documents, asked of each route: made from the same data as the routes themselves. */

let api: Api;
let agentKey: string;
let readOnly: string;
beforeAll(async () => {
  api = await startApi();
  agentKey = (await makeFleet(api)).agentKey;
  readOnly = (await api.post('api-keys/', { name: 'reader', access: 'read' })).body.key;
});
afterAll(() => api.stop());

const UNKNOWN = '018f3b1e-7c00-7abc-8def-0123456789ab';
const pathOf = ({ spec }: NamedRoute): string => `${spec.path.replace('{id}', UNKNOWN)}/`;
const named = (routes: readonly NamedRoute[]) => routes.map((route): [string, NamedRoute] => [route.operation, route]);
const people = namedRoutes(apiRoutes).filter(({ spec }) => spec.right !== 'public');
const agents = namedRoutes(agentRoutes);
const keyOf = ({ spec }: NamedRoute): string => (spec.right === 'act_as_agent' ? agentKey : api.key);
/** The smallest body that passes the route's own schema, so that a refusal is about something else. */
const BODIES: Readonly<Record<string, unknown>> = { waves_update: { status: 'paused' }, agent_finish: { exit_code: 0 } };
const bodyOf = ({ operation }: NamedRoute): unknown => BODIES[operation] ?? {};
const send = (route: NamedRoute, sent: Parameters<Api['send']>[2] = {}): Promise<Answered> =>
  api.send(route.spec.method, pathOf(route), { key: keyOf(route), ...sent });

const asked = new Map<string, Set<number>>();
function expectRefusal(answer: Answered, status: number, code?: string): z.infer<typeof errorBody> {
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.anything()]);
  const body = errorBody.parse(answer.body);
  if (code !== undefined) expect(body.errors[0]?.code).toBe(code);
  for (const { detail } of body.errors) expect(detail).toMatch(/[.!?)…]$/);
  return body;
}
/** A refusal of this route: what it answers with is in its documentation. */
function expectRefusalOf(route: NamedRoute, answer: Answered, status: number, code?: string): z.infer<typeof errorBody> {
  expect(refusalsOf(route.spec)).toContain(status);
  asked.set(route.operation, (asked.get(route.operation) ?? new Set()).add(status));
  return expectRefusal(answer, status, code);
}

describe.each(named([...people, ...agents]))('%s without a key that opens it', (_, route) => {
  test('no key: 401 not_authenticated, and how to authenticate', async () => {
    const answer = await send(route, { key: null });
    expectRefusalOf(route, answer, 401, 'not_authenticated');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('something else than a bearer key, and a mistyped key: 401 authentication_failed', async () => {
    const mistyped = `${keyOf(route).slice(0, -1)}_`;
    expectRefusalOf(route, await send(route, { key: null, headers: { authorization: 'Basic YTpi' } }), 401, 'authentication_failed');
    expectRefusalOf(route, await send(route, { key: mistyped, body: bodyOf(route) }), 401, 'authentication_failed');
  });
});

describe.each(named(people.filter(({ spec }) => spec.right !== 'authenticated')))('%s with a key that opens something else', (_, route) => {
  test('an agent key: 403 permission_denied, before anything of the body is read', async () => {
    expectRefusalOf(route, await send(route, { key: agentKey, raw: 'not JSON' }), 403, 'permission_denied');
  });

  test('a key that may only read: 403 for every change', async () => {
    if (route.spec.right === 'admin')
      expectRefusalOf(route, await send(route, { key: readOnly, raw: 'not JSON' }), 403, 'permission_denied');
    else expect((await send(route, { key: readOnly })).status).not.toBe(403);
  });
});

describe.each(named(agents))('%s with an administrator key', (_, route) => {
  test('403 permission_denied', async () => {
    expectRefusalOf(route, await send(route, { key: api.key, body: bodyOf(route) }), 403, 'permission_denied');
  });
});

describe.each(named(everyRoute().filter(({ spec }) => spec.path.includes('{id}'))))('%s with an id that names nothing', (_, route) => {
  test('404 not_found', async () => {
    const body = route.spec.request === undefined ? {} : { body: bodyOf(route) };
    expectRefusalOf(route, await send(route, body), 404, 'not_found');
  });
});

const withBody = everyRoute().filter(({ spec }) => spec.request !== undefined);
const withJson = withBody.filter(({ spec }) => spec.request !== 'raw');

describe.each(named(withJson))('%s with a body that cannot be read', (_, route) => {
  test('not JSON: 400 parse_error', async () => {
    expect(expectRefusalOf(route, await send(route, { raw: '{"name": "acme"' }), 400, 'parse_error').type).toBe('client_error');
  });
  test('another content type: 415', async () => {
    const answer = await send(route, { raw: 'name=acme', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    expectRefusalOf(route, answer, 415, 'unsupported_media_type');
  });
  test('not an object: 400', async () => {
    expectRefusalOf(route, await send(route, { body: ['acme'] }), 400, 'invalid');
  });
});

describe.each(named(withBody))('%s with a body larger than it takes', (_, route) => {
  test('413', async () => {
    const limit = route.spec.max_bytes ?? 1024 * 1024;
    expectRefusalOf(route, await send(route, { raw: JSON.stringify({ name: 'x'.repeat(limit) }) }), 413, 'too_large');
  });
});

/** Free keys are SystemConfig's purpose; a heartbeat may say more than this version knows. */
const OPEN = ['systemConfig_update', 'agent_health'];

describe.each(named(withJson.filter(({ operation }) => !OPEN.includes(operation))))('%s with a field that it does not know', (_, route) => {
  test('400 and the name of the field', async () => {
    const body = expectRefusalOf(route, await send(route, { body: { no_such_field: 1 } }), 400);
    expect(body.type).toBe('validation_error');
    expect(body.errors.map(({ attr }) => attr)).toContain('no_such_field');
  });
});

describe.each(named(people))('%s with a query parameter that it does not know', (_, route) => {
  test('400 and the name of the parameter', async () => {
    const answer = await api.send(route.spec.method, `${pathOf(route)}?no_such_filter=1`, { key: api.key });
    expect(expectRefusalOf(route, answer, 400).errors.map(({ attr }) => attr)).toContain('no_such_filter');
  });
});

/** What depends on more than one request has its own test; 500 and 503 are asked of the one place that makes them. */
const ELSEWHERE = [409, 500, 503];

test('no route documents a refusal that was not asked of it above', () => {
  for (const { operation, spec } of everyRoute()) {
    if (spec.right === 'public') continue;
    const documented = refusalsOf(spec).filter((status) => !ELSEWHERE.includes(status));
    expect([operation, documented.filter((status) => asked.get(operation)?.has(status) !== true)]).toEqual([operation, []]);
  }
});

test.each([
  ['GET', 'nothing/', 404, 'not_found'],
  ['GET', '/api/v2/blocks/', 404, 'not_found'],
  ['GET', 'agent/nothing/', 404, 'not_found'],
  ['PUT', 'blocks/', 405, 'method_not_allowed'],
  ['DELETE', 'agent/health/', 405, 'method_not_allowed'],
  ['OPTIONS', 'blocks/', 405, 'method_not_allowed'],
])('%s %s is %i', async (method, path, status, code) => {
  expectRefusal(await api.send(method, path), status, code);
});

test.each(['health/', 'schema/'])('%s needs no key', async (path) => {
  expect((await api.send('GET', path, { key: null })).status).toBe(200);
});
