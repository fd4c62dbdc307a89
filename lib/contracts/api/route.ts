import type * as z from 'zod';
import { archiveAnswer, archiveBody, forceQuery } from './common.ts';
import { page } from './paging.ts';

/** One operation of the API as data: routing, validation, authorization, OpenAPI and clients are made of it. */
export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /api/v1/, without the slashes at both ends; `{id}` is the id of the object. */
  readonly path: string;
  /** Further paths of the same operation. */
  readonly aliases?: readonly string[];
  /** `public` and `authenticated` (any key), else a right of the access matrix. */
  readonly right: 'public' | 'authenticated' | 'read_all' | 'admin' | 'act_as_agent';
  readonly summary: string;
  readonly query?: z.ZodType;
  /** The JSON body; `raw` = bytes of any kind, which the operation reads itself. */
  readonly request?: z.ZodType | 'raw';
  /** By status; null = no body. */
  readonly answers: { readonly [status: number]: z.ZodType | null };
  /** Media type of a good answer that is a text; JSON if not given. */
  readonly media?: string;
  /** It may be refused because of something that exists or goes on (409). */
  readonly conflicts?: boolean;
  /** Largest body as sent; 1 MB if not given. */
  readonly max_bytes?: number;
  /** Fields of the answer that are shown once and never kept. */
  readonly secrets?: readonly string[];
}

export const MEGABYTE = 1024 * 1024;

export const route = <const R extends RouteSpec>(spec: R): R => spec;

export interface ResourceSpec<O extends z.ZodType, C extends z.ZodType, U extends z.ZodType, Q extends z.ZodType> {
  readonly path: string;
  readonly aliases?: readonly string[];
  readonly word: string;
  readonly one: O;
  readonly create: C;
  readonly update: U;
  readonly query: Q;
}

/** The operations that every object has. */
export function resourceRoutes<O extends z.ZodType, C extends z.ZodType, U extends z.ZodType, Q extends z.ZodType>(
  spec: ResourceSpec<O, C, U, Q>,
) {
  const { path, word, one, create, update, query } = spec;
  const at = (rest: string) => ({ path: `${path}${rest}`, aliases: (spec.aliases ?? []).map((alias) => `${alias}${rest}`) });
  const changed = { request: update, answers: { 200: one }, right: 'admin', conflicts: true } as const;
  return {
    list: route({ ...at(''), method: 'GET', right: 'read_all', summary: `List ${word}s`, query, answers: { 200: page(one) } }),
    create: route({
      ...at(''),
      method: 'POST',
      right: 'admin',
      summary: `Make a ${word}`,
      request: create,
      answers: { 201: one },
      conflicts: true,
    }),
    get: route({ ...at('/{id}'), method: 'GET', right: 'read_all', summary: `Read a ${word}`, answers: { 200: one } }),
    replace: route({ ...at('/{id}'), method: 'PUT', summary: `Change a ${word}; what is left out stays as it is`, ...changed }),
    update: route({ ...at('/{id}'), method: 'PATCH', summary: `Change a ${word}`, ...changed }),
    archive: route({
      ...at('/{id}/archive'),
      method: 'POST',
      right: 'admin',
      summary: `Archive a ${word} (with archive_reason) or bring it back (without)`,
      request: archiveBody,
      query: forceQuery,
      answers: { 200: archiveAnswer },
      conflicts: true,
    }),
    remove: route({
      ...at('/{id}'),
      method: 'DELETE',
      right: 'admin',
      summary: `Archive a ${word}`,
      query: forceQuery,
      answers: { 204: null },
      conflicts: true,
    }),
  } as const;
}

/** A list and its single objects, without changes. */
export function readRoutes<O extends z.ZodType, D extends z.ZodType, Q extends z.ZodType>(spec: {
  path: string;
  word: string;
  row: O;
  one: D;
  query: Q;
}) {
  const { path, word, row, one, query } = spec;
  return {
    list: route({ path, method: 'GET', right: 'read_all', summary: `List ${word}s`, query, answers: { 200: page(row) } }),
    get: route({ path: `${path}/{id}`, method: 'GET', right: 'read_all', summary: `Read a ${word}`, answers: { 200: one } }),
  } as const;
}

type Nested = Readonly<Record<string, Readonly<Record<string, RouteSpec>>>>;

export interface NamedRoute {
  readonly operation: string;
  readonly resource: string;
  readonly verb: string;
  readonly spec: RouteSpec;
}

export const namedRoutes = (nested: Nested): NamedRoute[] =>
  Object.entries(nested).flatMap(([resource, verbs]) =>
    Object.entries(verbs).map(([verb, spec]) => ({ operation: `${resource}_${verb}`, resource, verb, spec })),
  );
