import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { errorBody } from '../lib/contracts/api/errors.ts';

/** What the API refused, in its own words. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly status: number;
  readonly problems: readonly { readonly detail: string; readonly attr: string | null }[];

  constructor(status: number, problems: readonly { readonly detail: string; readonly attr: string | null }[]) {
    super(problems.map(({ attr, detail }) => (attr === null ? detail : `${attr}: ${detail}`)).join('\n') || `The API answered ${status}.`);
    this.status = status;
    this.problems = problems;
  }
}

const BUSY: ReadonlySet<number> = new Set([429, 503]);
const MAX_TRIES = 5;

export interface Page<T> {
  readonly count: number;
  readonly next: string | null;
  readonly results: readonly T[];
}

/** A client of the HTTP API like any other: the key in the header, JSON both ways, answers read with their schema. */
export class ApiClient {
  readonly #base: string;
  readonly #key: string;

  constructor(base: string, key: string) {
    this.#base = base.replace(/\/$/, '');
    this.#key = key;
  }

  /** Asks again when the service is busy for a moment. */
  async get<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#send('GET', path, schema);
      } catch (error) {
        if (!(error instanceof ApiRefusal) || !BUSY.has(error.status) || attempt === MAX_TRIES) throw error;
        await sleep(attempt * 200);
      }
    }
  }

  post<T>(
    path: string,
    schema: z.ZodType<T>,
    body: Uint8Array | object | null = null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    return this.#send('POST', path, schema, body, headers);
  }

  async page<T>(path: string, row: z.ZodType<T>): Promise<Page<T>> {
    return this.get(path, z.object({ count: z.number(), next: z.string().nullable(), results: z.array(row) }));
  }

  /** Every row of a list, page after page. */
  async *all<T>(path: string, row: z.ZodType<T>): AsyncGenerator<T> {
    let next: string | null = path;
    while (next !== null) {
      const page: Page<T> = await this.page(next, row);
      yield* page.results;
      next = page.next;
    }
  }

  async #send<T>(
    method: string,
    path: string,
    schema: z.ZodType<T>,
    body: Uint8Array | object | null = null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const url = /^https?:/.test(path) ? path : `${this.#base}/api/v1/${path.replace(/^\/(api\/v1\/)?/, '')}`;
    const isBytes = body instanceof Uint8Array;
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === null || isBytes ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === null ? {} : { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw refusal(answer.status, text);
    return schema.parse(text === '' ? null : JSON.parse(text));
  }
}

function refusal(status: number, text: string): ApiRefusal {
  const parsed = errorBody.safeParse(parse(text));
  return new ApiRefusal(
    status,
    parsed.success ? parsed.data.errors : [{ detail: `The API answered ${status}: ${text.slice(0, 200)}`, attr: null }],
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
