import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock, Ids, Logger } from '../lib/app/ports.ts';
import type { Activity } from './activity.ts';
import { type HttpEvent, httpEvent } from './http-event.ts';
import { type LocalHandler, localContext } from './lambda.ts';
import { StartProblem } from './problem.ts';

/** What a function answers to an HTTP API (payload format 2.0). */
interface HttpResult {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

export interface Route {
  readonly prefix: string;
  readonly routeKey: string;
  readonly functionName: string;
  readonly handler: LocalHandler;
  /** Who is calling; asked at most once in 60 s for the same Authorization header. */
  readonly authorizer?: LocalHandler;
}

export interface GatewayOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly activity: Activity;
  /** The first one whose prefix fits. */
  readonly routes: readonly Route[];
  /** Requests of this machine's own, `/local/…`; not counted as activity. null = not one of them. */
  readonly local?: (request: {
    method: string;
    path: string;
    body: () => Promise<string>;
  }) => Promise<{ status: number; body: unknown } | null>;
}

/** Limits of the real gateway: payload, integration time, and requests at once before it throttles. */
const MAX_BODY = 10 * 1024 * 1024;
const INTEGRATION_MS = 30_000;
const MAX_AT_ONCE = 2_000;
const AUTHORIZER_CACHE_MS = 60_000;
const CLOSE_MS = 2_000;

const OWN_ANSWERS = {
  404: 'Not Found',
  413: 'Request Entity Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** Turns HTTP requests into what API Gateway (HTTP API) hands to Lambda, and answers by itself where the gateway does. */
export class LocalGateway {
  readonly #options: GatewayOptions;
  readonly #server: Server;
  readonly #callers = new Map<string, { until: number; context: unknown }>();
  #open = 0;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => void this.#serve(request, response));
  }

  /** Answers the port. Loopback only: nothing here is meant for a network. */
  async listen(port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(port, '127.0.0.1', resolve);
    try {
      await promise;
    } catch (error) {
      throw portProblem(error, port);
    } finally {
      this.#server.off('error', reject);
    }
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Requests that run are answered first. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    // Whoever keeps a connection open without asking anything is not waited for.
    const timer = setTimeout(() => this.#server.closeAllConnections(), CLOSE_MS);
    await closed;
    clearTimeout(timer);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request.url ?? '/');
    if (path.startsWith('/local/') && this.#options.local !== undefined) return this.#serveLocal(request, response, path);
    const end = this.#options.activity.begin();
    this.#open += 1;
    try {
      await this.#forward(request, response, path);
    } catch (error) {
      this.#options.log.error('gateway_failed', { path, error: String(error) });
      ownAnswer(response, 500);
    } finally {
      this.#open -= 1;
      end();
    }
  }

  async #forward(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const route = this.#options.routes.find(({ prefix }) => path.startsWith(prefix));
    if (this.#open > MAX_AT_ONCE) return refuse(request, response, 429);
    if (route === undefined) return refuse(request, response, 404);
    const body = await bodyOf(request);
    if (body === 'too large') return refuse(request, response, 413);
    const event = httpEvent({
      request,
      path,
      body,
      routeKey: route.routeKey,
      requestId: this.#options.ids.fresh(),
      now: this.#options.clock.now(),
    });
    if (route.authorizer !== undefined) event.requestContext.authorizer = { lambda: await this.#authorize(route.authorizer, event) };
    const result = await inTime(
      route.handler(event, localContext(route.functionName, event.requestContext.requestId)),
      INTEGRATION_MS,
    ).catch((error: unknown) => {
      this.#options.log.error('function_failed', { function: route.functionName, path, error: String(error) });
      return error === TOO_SLOW ? TOO_SLOW : FAILED;
    });
    if (result === TOO_SLOW) ownAnswer(response, 503);
    else if (result === FAILED) ownAnswer(response, 500);
    else send(response, result);
  }

  async #authorize(authorizer: LocalHandler, event: HttpEvent): Promise<unknown> {
    const identity = event.headers['authorization'] ?? '';
    const now = this.#options.clock.now();
    const known = this.#callers.get(identity);
    if (known !== undefined && known.until > now) return known.context;
    const request = { ...event, type: 'REQUEST', identitySource: [identity] };
    const answer = await authorizer(request, localContext('authorizer', event.requestContext.requestId));
    const context = typeof answer === 'object' && answer !== null && 'context' in answer ? answer.context : {};
    if (this.#callers.size > 10_000) this.#callers.clear();
    this.#callers.set(identity, { until: now + AUTHORIZER_CACHE_MS, context });
    return context;
  }

  async #serveLocal(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const body = async () => {
      const read = await bodyOf(request);
      return typeof read === 'string' ? '' : read.toString('utf8');
    };
    try {
      const answer = await this.#options.local?.({ method: request.method ?? 'GET', path, body });
      if (answer === null || answer === undefined) ownAnswer(response, 404);
      else sendJson(response, answer.status, answer.body);
    } catch (error) {
      this.#options.log.error('local_request_failed', { path, error: String(error) });
      ownAnswer(response, 500);
    }
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

const NOTHING = Buffer.alloc(0);

/** One buffer in the usual case of one piece. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | 'too large'> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > MAX_BODY) return 'too large';
  if (length === 0 && request.headers['transfer-encoding'] === undefined) return NOTHING;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | 'too large'>();
  const pieces: Buffer[] = [];
  let size = 0;
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size <= MAX_BODY) pieces.push(piece);
    else resolve('too large');
  });
  request.on('end', () => resolve(pieces.length === 1 ? (pieces[0] ?? NOTHING) : Buffer.concat(pieces)));
  request.on('error', reject);
  // Whoever hangs up in the middle gets no answer.
  request.on('close', () => reject(new Error('The request was broken off.')));
  return promise;
}

const TOO_SLOW = new Error('The function did not answer in time.');
const FAILED = new Error('The function failed.');

async function inTime(answer: Promise<unknown>, ms: number): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(TOO_SLOW), ms);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Answered before the body was read: the connection cannot be used again. */
function refuse(request: IncomingMessage, response: ServerResponse, status: keyof typeof OWN_ANSWERS): void {
  if (!request.complete) response.setHeader('connection', 'close');
  request.resume();
  ownAnswer(response, status);
}

function ownAnswer(response: ServerResponse, status: keyof typeof OWN_ANSWERS): void {
  if (!response.headersSent) sendJson(response, status, { message: OWN_ANSWERS[status] });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

const isResult = (answer: unknown): answer is HttpResult => typeof answer === 'object' && answer !== null && 'statusCode' in answer;

/** A result without a status is the body itself, as the real gateway takes it. */
function send(response: ServerResponse, answer: unknown): void {
  if (!isResult(answer)) {
    sendJson(response, 200, answer ?? null);
    return;
  }
  const { statusCode, headers = {}, cookies = [], body = '', isBase64Encoded = false } = answer;
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : body;
  response.statusCode = statusCode;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (statusCode !== 204 && statusCode !== 304) response.setHeader('content-length', Buffer.byteLength(bytes));
  response.end(bytes);
}

function portProblem(error: unknown, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'EADDRINUSE')
    return new StartProblem(
      `Port ${port} of 127.0.0.1 is taken by another program. Stop that, or choose another port with --port (0 takes any free one).`,
    );
  if (code === 'EACCES')
    return new StartProblem(`Port ${port} may not be used by this user. Choose another port with --port, e.g. --port 8787.`);
  return error;
}
