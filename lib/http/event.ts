/** What API Gateway (HTTP API, payload 2.0) hands to a function; the local gateway makes the same. Only what is read here. */
export interface HttpEvent {
  readonly rawPath: string;
  readonly rawQueryString?: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly requestId?: string;
    readonly http: { readonly method: string };
    readonly authorizer?: { readonly lambda?: Readonly<Record<string, unknown>> | null } | undefined;
  };
}

export interface HttpResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a handler answers, before it becomes text. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const reply = (status: number, body: unknown): Reply => ({ status, body });

/** A text of another kind than JSON. */
export const textReply = (body: string, media: string): Reply => ({ status: 200, body, headers: { 'content-type': media } });

/** The address that the caller used, for links in answers. */
export function originOf(event: HttpEvent): string {
  const host = event.headers['x-forwarded-host'] ?? event.headers['host'] ?? 'localhost';
  const local = /^(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(host);
  return `${event.headers['x-forwarded-proto'] ?? (local ? 'http' : 'https')}://${host}`;
}

/** The answer as text; one that names its own type is one already. Nothing of the API may be kept by a cache on the way. */
export function resultOf({ status, body, headers }: Reply, requestId: string): HttpResult {
  return {
    statusCode: status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-request-id': requestId, ...headers },
    body: status === 204 ? '' : headers?.['content-type'] === undefined ? JSON.stringify(body) : String(body),
  };
}

export const requestIdOf = (event: HttpEvent): string => event.requestContext.requestId ?? 'unknown';
