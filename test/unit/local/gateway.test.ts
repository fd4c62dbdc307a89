import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { SystemClock } from '../../../lib/adapters/system/clock.ts';
import { SystemIds } from '../../../lib/adapters/system/ids.ts';
import { Activity } from '../../../local/activity.ts';
import { type GatewayOptions, LocalGateway, type Route } from '../../../local/gateway.ts';
import type { HttpEvent } from '../../../local/http-event.ts';
import { StartProblem } from '../../../local/problem.ts';
import { silent } from '../../support/workflow.ts';

const open: LocalGateway[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

const clock = new SystemClock();

function gatewayWith(routes: Partial<Route>[], more: Partial<GatewayOptions> = {}): LocalGateway {
  const full = routes.map((route) => ({
    prefix: '/api/',
    routeKey: 'ANY /api/{proxy+}',
    functionName: 'f',
    handler: async () => ({ statusCode: 204 }),
    ...route,
  }));
  const gateway = new LocalGateway({ clock, ids: new SystemIds(clock), log: silent, activity: new Activity(), routes: full, ...more });
  open.push(gateway);
  return gateway;
}

async function serve(handler: (event: HttpEvent) => unknown, more: Partial<Route> = {}): Promise<string> {
  const gateway = gatewayWith([{ handler: async (event) => handler(event as HttpEvent), ...more }]);
  return `http://127.0.0.1:${await gateway.listen(0)}`;
}

/** What the function was handed. */
async function eventOf(path: string, init: RequestInit = {}): Promise<HttpEvent> {
  const seen: HttpEvent[] = [];
  const base = await serve((event) => {
    seen.push(event);
    return { statusCode: 200 };
  });
  await fetch(`${base}${path}`, init);
  const [event] = seen;
  if (event === undefined) throw new Error('the function was not called');
  return event;
}

test('a request arrives as an event of payload format 2.0', async () => {
  const event = await eventOf('/api/v1/x%20y/?a=1&a=2&b=%C3%BC&c', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Cluster-UID': 'u', cookie: 'a=1; b=2', 'user-agent': 'probe' },
    body: '{"name":"ü"}',
  });
  expect(event).toMatchObject({
    version: '2.0',
    routeKey: 'ANY /api/{proxy+}',
    rawPath: '/api/v1/x%20y/',
    rawQueryString: 'a=1&a=2&b=%C3%BC&c',
    queryStringParameters: { a: '1,2', b: 'ü', c: '' },
    cookies: ['a=1', 'b=2'],
    body: '{"name":"ü"}',
    isBase64Encoded: false,
    headers: { 'x-cluster-uid': 'u', 'content-type': 'application/json' },
    requestContext: {
      stage: '$default',
      http: { method: 'POST', path: '/api/v1/x%20y/', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'probe' },
    },
  });
  expect(event.headers).not.toHaveProperty('cookie');
});

test('without a query and a body the event has neither', async () => {
  const event = await eventOf('/api/');
  expect(event).not.toHaveProperty('queryStringParameters');
  expect(event).not.toHaveProperty('body');
  expect(event.rawQueryString).toBe('');
});

test.each([
  ['application/gzip', {}, true],
  ['application/octet-stream', {}, true],
  ['application/json', { 'content-encoding': 'gzip' }, true],
  ['application/json', { 'content-encoding': 'identity' }, false],
  ['application/yaml', {}, false],
  ['text/plain; charset=utf-8', {}, false],
  ['application/problem+json', {}, false],
])('a body of %s with %j arrives in base64: %s', async (type, headers, base64) => {
  const body = Buffer.from([0x1f, 0x8b, 0x00, 0xff]);
  const event = await eventOf('/api/', { method: 'POST', body, headers: { 'content-type': type, ...headers } });
  expect(event.isBase64Encoded).toBe(base64);
  if (base64) expect(Buffer.from(event.body ?? '', 'base64')).toEqual(body);
});

test('what the function answers is what the caller gets: status, headers, cookies, body', async () => {
  const base = await serve(() => ({
    statusCode: 418,
    headers: { 'x-a': 'b', 'content-type': 'text/plain', 'retry-after': 3 },
    cookies: ['a=1', 'b=2'],
    body: 'ü',
  }));
  const answer = await fetch(`${base}/api/`);
  expect(answer.status).toBe(418);
  expect(await answer.text()).toBe('ü');
  expect(answer.headers.get('content-length')).toBe('2');
  expect(answer.headers.get('retry-after')).toBe('3');
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
});

test('a body in base64 is unpacked', async () => {
  const base = await serve(() => ({ statusCode: 200, body: Buffer.from([1, 2, 255]).toString('base64'), isBase64Encoded: true }));
  expect(new Uint8Array(await (await fetch(`${base}/api/`)).arrayBuffer())).toEqual(new Uint8Array([1, 2, 255]));
});

test('an answer without a status is the body of a 200', async () => {
  const base = await serve(() => ({ hello: 'world' }));
  expect(await (await fetch(`${base}/api/`)).json()).toEqual({ hello: 'world' });
});

test('the gateway itself answers 404 for a path without a route', async () => {
  const base = await serve(() => ({ statusCode: 200 }));
  const answer = await fetch(`${base}/nowhere`, { method: 'POST', body: 'x'.repeat(100_000) });
  expect([answer.status, await answer.json()]).toEqual([404, { message: 'Not Found' }]);
});

test('the gateway itself answers 413 above 10 MB, and takes exactly 10 MB', async () => {
  const base = await serve((event) => ({ statusCode: 200, body: String(event.body?.length) }));
  const most = 'x'.repeat(10 * 1024 * 1024);
  expect(await (await fetch(`${base}/api/`, { method: 'POST', body: most })).text()).toBe(String(most.length));
  const answer = await fetch(`${base}/api/`, { method: 'POST', body: `${most}x` }).catch(() => null);
  // The sender may still be sending when the answer comes.
  if (answer !== null) expect([answer.status, await answer.json()]).toEqual([413, { message: 'Request Entity Too Large' }]);
});

test('the gateway itself answers 500 when the function fails, and goes on', async () => {
  const base = await serve((event) => {
    if (event.rawPath === '/api/bad') throw new Error('secret detail');
    return { statusCode: 200 };
  });
  const answer = await fetch(`${base}/api/bad`);
  expect([answer.status, await answer.json()]).toEqual([500, { message: 'Internal Server Error' }]);
  expect((await fetch(`${base}/api/good`)).status).toBe(200);
});

test('the first route whose prefix fits gets the request', async () => {
  const gateway = gatewayWith([
    { prefix: '/api/v1/agent/', handler: async () => ({ statusCode: 201 }) },
    { prefix: '/api/v1/', handler: async () => ({ statusCode: 202 }) },
  ]);
  const base = `http://127.0.0.1:${await gateway.listen(0)}`;
  const statuses = await Promise.all(
    ['/api/v1/agent/health/', '/api/v1/agent', '/api/v1/agents/'].map(async (path) => (await fetch(base + path)).status),
  );
  expect(statuses).toEqual([201, 202, 202]);
});

test('the authorizer says who is calling, once for the same Authorization header', async () => {
  const asked: string[] = [];
  const base = await serve((event) => ({ statusCode: 200, body: JSON.stringify(event.requestContext.authorizer) }), {
    authorizer: async (event) => {
      const identity = (event as HttpEvent).headers['authorization'] ?? '';
      asked.push(identity);
      return { isAuthorized: true, context: { who: identity } };
    },
  });
  const call = async (authorization: string) => (await fetch(`${base}/api/`, { headers: { authorization } })).json();
  expect(await call('Bearer a')).toEqual({ lambda: { who: 'Bearer a' } });
  await call('Bearer a');
  expect(await call('Bearer b')).toEqual({ lambda: { who: 'Bearer b' } });
  expect(asked).toEqual(['Bearer a', 'Bearer b']);
});

test('a port that is taken is a clear message with the way out', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const error = await gatewayWith([])
    .listen(port)
    .catch((caught: unknown) => caught);
  other.close();
  expect(error).toBeInstanceOf(StartProblem);
  expect(String(error)).toContain(`Port ${port} of 127.0.0.1 is taken`);
  expect(String(error)).toContain('--port');
});

test('requests of the machine itself go their own way and do not count as activity', async () => {
  const activity = new Activity();
  const gateway = gatewayWith([], {
    activity,
    local: async ({ method, path, body }) => {
      await activity.idle();
      return path === '/local/clock' ? { status: 200, body: { method, text: await body() } } : null;
    },
  });
  const base = `http://127.0.0.1:${await gateway.listen(0)}`;
  expect(await (await fetch(`${base}/local/clock`, { method: 'POST', body: 'x' })).json()).toEqual({ method: 'POST', text: 'x' });
  expect((await fetch(`${base}/local/other`)).status).toBe(404);
});

test('closing lets a running request end and takes no more', async () => {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const gateway = gatewayWith([
    {
      handler: async () => {
        entered.resolve();
        await gate.promise;
        return { statusCode: 200, body: 'done' };
      },
    },
  ]);
  const base = `http://127.0.0.1:${await gateway.listen(0)}`;
  const running = fetch(`${base}/api/`);
  await entered.promise;
  const closed = gateway.close();
  gate.resolve();
  expect(await (await running).text()).toBe('done');
  await closed;
  await expect(fetch(`${base}/api/`)).rejects.toThrow();
});
