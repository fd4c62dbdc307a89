import http from 'node:http';
import https from 'node:https';
import type * as z from 'zod';
import type { AgentReport, agentReportAnswer, FinishRequest, ProgressRequest } from '../lib/contracts/api/agent.ts';
import type { agentRun, claimedRun } from '../lib/contracts/api/rollouts.ts';

export type ReportAnswer = z.infer<typeof agentReportAnswer>;
export type AgentRun = z.infer<typeof agentRun>;
export type ClaimedRun = z.infer<typeof claimedRun>;

/** The service answered, but not with what was asked for. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, detail: string, retryAfterSeconds: number | null) {
    super(detail);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The same request may succeed later; anything else needs a person, or another request. */
  get passing(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** Keep-alive connections to one service, shared by any number of agents. */
export class Connections {
  readonly base: URL;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;

  constructor(baseUrl: string, most: number) {
    this.base = new URL(baseUrl);
    const secure = this.base.protocol === 'https:';
    const options = { keepAlive: true, maxSockets: most, scheduling: 'fifo' as const };
    this.#agent = secure ? new https.Agent(options) : new http.Agent(options);
    this.#request = secure ? https.request : http.request;
  }

  /** The parsed body of an answer below 400; anything else is thrown. */
  send<T>(method: string, path: string, headers: Record<string, string>, body: object | null, timeoutMs = 30_000): Promise<T> {
    const text = body === null ? null : JSON.stringify(body);
    const sized = text === null ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
    return new Promise((resolve, reject) => {
      const request = this.#request(
        {
          host: this.base.hostname,
          port: this.base.port,
          path,
          method,
          agent: this.#agent,
          timeout: timeoutMs,
          headers: { ...headers, ...sized },
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            try {
              resolve(read<T>(answer, Buffer.concat(chunks).toString('utf8')));
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
      request.on('error', reject);
      request.end(text ?? undefined);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function read<T>(answer: http.IncomingMessage, text: string): T {
  const status = answer.statusCode ?? 500;
  if (status < 400) return (text === '' ? null : JSON.parse(text)) as T;
  const seconds = Number(answer.headers['retry-after']);
  throw new Refused(status, `${status}: ${detailOf(text)}`, Number.isFinite(seconds) ? seconds : null);
}

/** Our error body, the gateway's `{message}`, or the text as it came. */
function detailOf(text: string): string {
  try {
    const body = JSON.parse(text) as { errors?: { detail?: string; attr?: string | null }[]; message?: string };
    const errors = body.errors?.map(({ detail, attr }) => (attr == null ? detail : `${attr}: ${detail}`)).join('; ');
    return errors ?? body.message ?? text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}

/** One agent's calls (SPEC §6, §7). */
export class AgentClient {
  readonly #connections: Connections;
  readonly #headers: Record<string, string>;
  readonly #base: string;

  constructor(connections: Connections, key: string, clusterUid: string | null) {
    this.#connections = connections;
    this.#base = connections.base.pathname.replace(/\/$/, '');
    this.#headers = { authorization: `Bearer ${key}`, ...(clusterUid === null ? {} : { 'x-cluster-uid': clusterUid }) };
  }

  report(report: AgentReport): Promise<ReportAnswer> {
    return this.#post('health/', report);
  }

  claim(run: string): Promise<ClaimedRun> {
    return this.#post(`action-runs/${run}/claim/`, {});
  }

  progress(run: string, logs: ProgressRequest): Promise<AgentRun> {
    return this.#post(`action-runs/${run}/progress/`, logs);
  }

  finish(run: string, result: FinishRequest): Promise<AgentRun> {
    return this.#post(`action-runs/${run}/finish/`, result);
  }

  #post<T>(path: string, body: object): Promise<T> {
    return this.#connections.send('POST', `${this.#base}/api/v1/agent/${path}`, this.#headers, body);
  }
}

/** Open and not yet worked: claimed by us, no exit code known. */
export const isToBeExecuted = (run: AgentRun): boolean => run.status === 'running' && run.exit_code === null;

/** Milliseconds to wait after so many failures in a row: doubling from one second to a minute, or what the service asked for. */
export function backOff(failures: number, error: unknown): number {
  const asked = error instanceof Refused ? error.retryAfterSeconds : null;
  return asked === null ? Math.min(60_000, 1000 * 2 ** Math.min(failures - 1, 6)) : Math.max(1, asked) * 1000;
}
