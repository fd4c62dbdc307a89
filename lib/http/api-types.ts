import type * as z from 'zod';
import type { Caller } from '../app/keys/authenticate.ts';
import type { RouteSpec } from '../contracts/api/route.ts';
import type { apiRoutes } from '../contracts/api/routes.ts';
import type { Reply } from './event.ts';

type QueryOf<R> = R extends { readonly query: infer Q extends z.ZodType } ? z.output<Q> : undefined;
type BodyOf<R> = R extends { readonly request: 'raw' }
  ? RawBody
  : R extends { readonly request: infer B extends z.ZodType }
    ? z.output<B>
    : undefined;

export interface RawBody {
  readonly bytes: Uint8Array;
  readonly content_type: string | null;
}

/** A request that has passed routing, authorization and validation. */
export interface Call<Query = unknown, Body = unknown> {
  /** The `{id}` of the path; empty where there is none. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
  /** True when a body was sent at all. */
  readonly has_body: boolean;
  /** null on public operations only. */
  readonly caller: Caller | null;
  /** What audits show. */
  readonly actor: string;
  readonly origin: string;
  readonly address: URL;
}

export type HandlerOf<R extends RouteSpec> = (call: Call<QueryOf<R>, BodyOf<R>>) => Promise<Reply>;

type ApiRoutes = typeof apiRoutes;

/** One handler for each operation; the compiler names those that are missing. */
export type Handlers = { readonly [R in keyof ApiRoutes]: HandlersOf<R> };
export type HandlersOf<R extends keyof ApiRoutes> = {
  readonly [V in keyof ApiRoutes[R]]: ApiRoutes[R][V] extends RouteSpec ? HandlerOf<ApiRoutes[R][V]> : never;
};
