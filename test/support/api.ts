import { makeHandler as makeAgentHandler } from '../../functions/agent-api/handler.ts';
import { makeHandler as makeApiHandler } from '../../functions/api/handler.ts';
import { makeHandler as makeAuthorizerHandler } from '../../functions/authorizer/handler.ts';
import { documentClient } from '../../lib/adapters/dynamodb/client.ts';
import { NunjucksRenderer } from '../../lib/adapters/templates/renderer.ts';
import { seed } from '../../lib/app/engine/seed.ts';
import { createApiKey } from '../../lib/app/resources/access-keys.ts';
import type { HttpResult } from '../../lib/http/event.ts';
import { compose } from '../../lib/lambda/compose.ts';
import { EmbeddedClient } from '../../local/embedded-client.ts';
import { startTable } from '../../local/table.ts';
import { HandClock } from './embedded.ts';
import { FakeScheduler } from './fake-scheduler.ts';

export interface Sent {
  readonly body?: unknown;
  /** Sent as it is, instead of JSON. */
  readonly raw?: string | Uint8Array;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers that are checked against their schemas before
  readonly body: any;
  readonly headers: Readonly<Record<string, string>>;
}

/** Keeps what is said, and shows errors. */
function listening() {
  const said: { readonly event: string; readonly fields: Record<string, unknown> }[] = [];
  const note = (event: string, fields: Record<string, unknown> = {}) => void said.push({ event, fields });
  return { said, info: note, warn: note, error: (event: string, fields?: object) => console.error(event, fields) };
}

/** The functions behind the HTTP API, on the real table in memory; what they start is only noted. */
export async function startApi(options: { readonly embedded?: boolean; readonly now?: number } = {}) {
  const table = await startTable({ file: null });
  const client = options.embedded === true ? embeddedClient(table.client.endpoint) : documentClient(table.client);
  const clock = new HandClock(options.now);
  const log = listening();
  const started: string[] = [];
  const noted = (what: string): 'started' => {
    started.push(what);
    return 'started';
  };
  const scheduler = new FakeScheduler();
  const { services, table: rows } = compose({
    sender: client,
    table: table.name,
    clock,
    log,
    random: () => 0.5,
    renderer: new NunjucksRenderer(),
    workflows: {
      startWave: async ({ block_rollout }) => noted(`wave ${block_rollout}`),
      startEnqueue: async ({ enqueue_run }) => noted(`enqueue ${enqueue_run}`),
      sendWake: async () => undefined,
    },
    scheduler,
    outbox: { start: async () => undefined },
    gatherMs: 0,
  });
  await seed(services.engine);
  const { key } = await createApiKey(services.resources, { name: 'admin' }, 'test');
  const send = caller(makeApiHandler(services, true), makeAgentHandler(services), makeAuthorizerHandler(services), key);
  const stop = async (): Promise<void> => {
    client.destroy();
    await table.stop();
  };
  return {
    services,
    /** What the table has been asked for, in capacity units. */
    units: rows.units,
    table: rows,
    clock,
    scheduler,
    said: log.said,
    started,
    key,
    send,
    stop,
    get: (path: string) => send('GET', path),
    post: (path: string, body?: unknown) => send('POST', path, { body }),
  };
}
export type Api = Awaited<ReturnType<typeof startApi>>;

function embeddedClient(endpoint: unknown) {
  const embedded = new EmbeddedClient(String(endpoint), { tokens: false });
  return Object.assign(embedded.sender(), { destroy: () => embedded.destroy() });
}

type Fn = (event: unknown, context: never) => Promise<unknown>;

/** As API Gateway does it: authorizer, event, function. */
function caller(api: Fn, agents: Fn, authorizer: Fn, admin: string) {
  const context = { awsRequestId: 'test', getRemainingTimeInMillis: () => 29_000 } as never;
  return async (method: string, path: string, sent: Sent = {}): Promise<Answered> => {
    const event = eventOf(method, path, sent, sent.key === undefined ? admin : sent.key);
    const agent = event.rawPath.startsWith('/api/v1/agent/');
    const lambda = agent ? undefined : ((await authorizer(event, context)) as { context: object }).context;
    const requestContext = { ...event.requestContext, ...(lambda === undefined ? {} : { authorizer: { lambda } }) };
    const result = (await (agent ? agents : api)({ ...event, requestContext }, context)) as HttpResult;
    return { status: result.statusCode, headers: result.headers, body: bodyOf(result) };
  };
}

/** JSON unless it says otherwise. */
function bodyOf({ headers, body }: HttpResult): unknown {
  if (body === '') return null;
  return headers['content-type']?.startsWith('application/json') ? JSON.parse(body) : body;
}

function eventOf(method: string, path: string, { body, raw, headers }: Sent, key: string | null) {
  const [rawPath = '', rawQueryString = ''] = (path.startsWith('/') ? path : `/api/v1/${path}`).split('?');
  const bytes = raw instanceof Uint8Array;
  const text =
    raw === undefined ? (body === undefined ? undefined : JSON.stringify(body)) : bytes ? Buffer.from(raw).toString('base64') : raw;
  return {
    rawPath,
    rawQueryString,
    headers: {
      host: 'rollout.example',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
    isBase64Encoded: bytes,
    requestContext: { requestId: 'request-1', http: { method } },
  };
}
