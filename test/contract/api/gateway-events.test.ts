import { gzipSync } from 'node:zlib';
import type {
  APIGatewayEventRequestContextV2,
  APIGatewayProxyEventV2WithLambdaAuthorizer,
  APIGatewayProxyStructuredResultV2,
  APIGatewayRequestAuthorizerEventV2,
  APIGatewaySimpleAuthorizerWithContextResult,
} from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeHandler as makeApi } from '../../../functions/api/handler.ts';
import { makeHandler as makeAuthorizer } from '../../../functions/authorizer/handler.ts';
import type { HttpEvent } from '../../../lib/http/event.ts';
import { type Api, startApi } from '../../support/api.ts';

/** Events as API Gateway sends them (HTTP API, payload 2.0), in AWS' own types, and what it takes as an answer. */
type Context = Record<string, unknown>;
type RestEvent = APIGatewayProxyEventV2WithLambdaAuthorizer<Context>;

const requestContext = (method: string, path: string): APIGatewayEventRequestContextV2 => ({
  accountId: '123456789012',
  apiId: 'a1b2c3d4e5',
  domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
  domainPrefix: 'a1b2c3d4e5',
  http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'curl/8.9' },
  requestId: 'JKJaXmPLvHcESHA=',
  routeKey: 'ANY /api/v1/{proxy+}',
  stage: '$default',
  time: '29/Nov/2026:19:03:58 +0000',
  timeEpoch: 1_795_980_238_390,
});

const HEADERS = {
  accept: '*/*',
  'content-length': '20',
  host: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
  'user-agent': 'curl/8.9',
  'x-amzn-trace-id': 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
  'x-forwarded-for': '192.0.2.1',
  'x-forwarded-port': '443',
  'x-forwarded-proto': 'https',
};

let api: Api;
let handle: ReturnType<typeof makeApi>;
let authorize: ReturnType<typeof makeAuthorizer>;
beforeAll(async () => {
  api = await startApi();
  handle = makeApi(api.services, true);
  authorize = makeAuthorizer(api.services);
});
afterAll(() => api.stop());

async function authorizer(path: string, headers: Record<string, string>): Promise<APIGatewaySimpleAuthorizerWithContextResult<Context>> {
  const event: APIGatewayRequestAuthorizerEventV2 = {
    version: '2.0',
    type: 'REQUEST',
    routeArn: 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/$default/GET/api/v1/whoami',
    identitySource: Object.values(headers),
    routeKey: 'ANY /api/v1/{proxy+}',
    rawPath: path,
    rawQueryString: '',
    cookies: [],
    headers: { ...HEADERS, ...headers },
    requestContext: requestContext('GET', path),
  };
  return (await authorize(event, {} as never)) as APIGatewaySimpleAuthorizerWithContextResult<Context>;
}

/** Through both, as the gateway does: what the authorizer found out goes along as texts. */
async function through(
  method: string,
  path: string,
  more: Partial<RestEvent> & { key?: string } = {},
): Promise<APIGatewayProxyStructuredResultV2> {
  const { key = api.key, headers, ...rest } = more;
  const authorization = { authorization: `Bearer ${key}` };
  const { isAuthorized, context } = await authorizer(path, authorization);
  expect(isAuthorized).toBe(true);
  const event: RestEvent = {
    version: '2.0',
    routeKey: 'ANY /api/v1/{proxy+}',
    rawPath: path,
    rawQueryString: '',
    headers: { ...HEADERS, ...authorization, ...headers },
    requestContext: { ...requestContext(method, path), authorizer: { lambda: context } },
    isBase64Encoded: false,
    ...rest,
  };
  const answer = (await handle(event satisfies HttpEvent, {} as never)) as APIGatewayProxyStructuredResultV2;
  expect(typeof answer.body).toBe('string');
  return answer;
}

const bodyOf = (answer: APIGatewayProxyStructuredResultV2) => JSON.parse(answer.body ?? 'null');

describe('events of API Gateway', () => {
  test('a key that opens: texts only in the context, and links with the address that was called', async () => {
    const { context } = await authorizer('/api/v1/whoami/', { authorization: `Bearer ${api.key}` });
    expect(Object.values(context).every((value) => typeof value === 'string')).toBe(true);
    const answer = await through('GET', '/api/v1/api-keys/', { rawQueryString: 'page_size=1', cookies: ['session=none'] });
    expect(answer).toMatchObject({ statusCode: 200, headers: { 'x-request-id': 'JKJaXmPLvHcESHA=', 'cache-control': 'no-store' } });
  });

  test('a wrong key: let through by the authorizer, refused by the API in its own words', async () => {
    const answer = await through('GET', '/api/v1/whoami/', { key: `${api.key}x` });
    expect(answer.statusCode).toBe(401);
    expect(bodyOf(answer)).toMatchObject({ type: 'client_error', errors: [{ code: 'authentication_failed' }] });
  });

  test('JSON as text, and packed in base64 as the gateway hands on what is not text', async () => {
    const name = (n: number) => JSON.stringify({ name: `base64 ${n}` });
    const json = { 'content-type': 'application/json' };
    expect((await through('POST', '/api/v1/organizations', { body: name(1), headers: json })).statusCode).toBe(201);
    const base64 = { body: Buffer.from(name(2)).toString('base64'), isBase64Encoded: true, headers: json };
    expect((await through('POST', '/api/v1/organizations/', base64)).statusCode).toBe(201);
    const packed = { body: gzipSync(name(3)).toString('base64'), isBase64Encoded: true, headers: { ...json, 'content-encoding': 'gzip' } };
    expect((await through('POST', '/api/v1/organizations/', packed)).statusCode).toBe(201);
  });

  test('a parameter given twice arrives as both, whatever the gateway makes of it beside', async () => {
    const twice = { rawQueryString: 'page_size=1&page_size=2', queryStringParameters: { page_size: '1,2' } };
    const answer = await through('GET', '/api/v1/organizations/', twice);
    expect(answer.statusCode).toBe(400);
    expect(bodyOf(answer).errors[0]).toMatchObject({ attr: 'page_size' });
  });

  test('a public path without the authorizer', async () => {
    const event = {
      ...{ version: '2.0', routeKey: 'GET /api/v1/health', rawPath: '/api/v1/health', rawQueryString: '', headers: HEADERS },
      ...{ requestContext: requestContext('GET', '/api/v1/health'), isBase64Encoded: false },
    };
    expect(await handle(event satisfies HttpEvent, {} as never)).toMatchObject({ statusCode: 200, body: '{"status":"ok"}' });
  });
});
