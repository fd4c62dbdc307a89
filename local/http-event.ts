import type { IncomingMessage } from 'node:http';

/** API Gateway's event for an HTTP API, payload format 2.0. */
export interface HttpEvent {
  readonly version: '2.0';
  readonly routeKey: string;
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly cookies?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly queryStringParameters?: Readonly<Record<string, string>>;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly requestContext: {
    readonly accountId: string;
    readonly apiId: string;
    readonly domainName: string;
    readonly domainPrefix: string;
    readonly http: {
      readonly method: string;
      readonly path: string;
      readonly protocol: string;
      readonly sourceIp: string;
      readonly userAgent: string;
    };
    readonly requestId: string;
    readonly routeKey: string;
    readonly stage: '$default';
    readonly time: string;
    readonly timeEpoch: number;
    authorizer?: { readonly lambda: unknown };
  };
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

export interface EventParts {
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'httpVersion' | 'socket'>;
  readonly path: string;
  readonly body: Buffer;
  readonly routeKey: string;
  readonly requestId: string;
  readonly now: number;
}

export function httpEvent({ request, path, body, routeKey, requestId, now }: EventParts): HttpEvent {
  const { cookie, ...headers } = request.headers as Record<string, string>;
  const rawQueryString = (request.url ?? '').slice(path.length + 1);
  const domainName = headers['host'] ?? 'localhost';
  const binary = body.length > 0 && !isText(headers);
  const http = {
    method: request.method ?? 'GET',
    path,
    protocol: `HTTP/${request.httpVersion}`,
    sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
    userAgent: headers['user-agent'] ?? '',
  };
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString,
    ...(cookie === undefined ? {} : { cookies: cookie.split(/; */) }),
    headers,
    ...(rawQueryString === '' ? {} : { queryStringParameters: queryOf(rawQueryString) }),
    requestContext: {
      accountId: 'local',
      apiId: 'local',
      domainName,
      domainPrefix: 'local',
      http,
      requestId,
      routeKey,
      stage: '$default',
      time: new Date(now).toISOString(),
      timeEpoch: now,
    },
    ...(body.length === 0 ? {} : { body: body.toString(binary ? 'base64' : 'utf8') }),
    isBase64Encoded: binary,
  };
}

/** Several values of one name are joined with a comma, as the real gateway does. */
function queryOf(raw: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(raw)) query[name] = Object.hasOwn(query, name) ? `${query[name]},${value}` : value;
  return query;
}

/** What is packed, or is not text by its type, arrives in base64. */
function isText(headers: Readonly<Record<string, string>>): boolean {
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') return false;
  return /^\s*(text\/|application\/(json|javascript|xml|yaml|x-yaml|x-www-form-urlencoded|[\w.+-]+\+(json|xml)))/i.test(
    headers['content-type'] ?? 'text/plain',
  );
}
