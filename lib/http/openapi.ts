import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { errorBody } from '../contracts/api/errors.ts';
import type { NamedRoute, RouteSpec } from '../contracts/api/route.ts';
import { everyRoute } from '../contracts/api/routes.ts';
import { LABEL_KEYS } from './label-keys.ts';

type Json = Record<string, unknown>;

/** OpenAPI 3.1 from the schemas that validate: what is documented is what is checked. */
export function openApi(): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const route of everyRoute()) {
    for (const [index, path] of [route.spec.path, ...(route.spec.aliases ?? [])].entries()) {
      const operation = operationOf(route, components);
      const named = index === 0 ? operation : { ...operation, operationId: `${route.operation}_alias_${index}`, deprecated: true };
      paths[`/api/v1/${path}/`] = { ...paths[`/api/v1/${path}/`], [route.spec.method.toLowerCase()]: named };
    }
  }
  components['LabelKey'] = { type: 'string', enum: LABEL_KEYS };
  return {
    openapi: '3.1.0',
    info: { title: 'Block Rollout', version: '1', description: 'Rolls block versions out to fleets of Kubernetes clusters, in waves.' },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths: sorted(paths),
    components: { schemas: sorted(components), securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
}

const sorted = (value: Json): Json => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

function operationOf({ operation, resource, spec }: NamedRoute, components: Json): Json {
  return {
    operationId: operation,
    tags: [resource],
    summary: spec.summary,
    ...(spec.right === 'public' ? { security: [] } : {}),
    parameters: [...pathParameters(spec), ...queryParameters(spec, components), ...headerParameters(spec)],
    ...(spec.request === undefined ? {} : { requestBody: requestBody(spec.request, components) }),
    responses: responses(spec, components),
  };
}

const pathParameters = (spec: RouteSpec): Json[] =>
  spec.path.includes('{id}') ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }] : [];

function queryParameters(spec: RouteSpec, components: Json): Json[] {
  if (spec.query === undefined) return [];
  const { properties = {} } = schemaOf(spec.query, 'input', components) as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

function headerParameters(spec: RouteSpec): Json[] {
  if (spec.right === 'act_as_agent') {
    const names = spec.path.includes('{id}') ? ['X-Cluster-UID', 'X-Agent-ID'] : spec.method === 'GET' ? ['X-Agent-ID'] : [];
    return names.map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
  }
  return spec.method === 'POST' ? [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } }] : [];
}

function requestBody(request: z.ZodType | 'raw', components: Json): Json {
  if (request !== 'raw') return { content: { 'application/json': { schema: schemaOf(request, 'input', components) } } };
  const any = { schema: { type: 'string', contentMediaType: 'application/yaml' } };
  return { required: true, content: { 'application/yaml': any, 'application/json': any, 'application/gzip': any } };
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'Something in the request is wrong; each mistake is named with its field',
  401: 'The key is missing, unknown, revoked or expired',
  403: 'The key does not open this',
  404: 'There is no such thing, or the key may not see it',
  409: 'Something that exists or goes on stands in the way',
  413: 'The body is too large; the gateway itself answers {"message"}',
  415: 'The body is of a kind that is not understood here',
  429: 'Too many requests; the gateway itself answers {"message"}',
  500: 'Something went wrong here; nothing but the request id is told',
  503: 'Not available at the moment; Retry-After says when to try again',
};

/** The refusals that an operation can answer with. */
export function refusalsOf(spec: RouteSpec): number[] {
  const statuses = [500, 503];
  if (spec.right !== 'public') statuses.push(401);
  if (spec.right !== 'public' && spec.right !== 'authenticated') statuses.push(403);
  if (spec.query !== undefined || spec.request !== undefined || spec.right !== 'act_as_agent') statuses.push(400);
  if (spec.path.includes('{id}')) statuses.push(404);
  // Any POST of people may repeat an Idempotency-Key whose first request is still being worked on.
  if (spec.conflicts === true || (spec.method === 'POST' && spec.right !== 'act_as_agent')) statuses.push(409);
  if (spec.request !== undefined) statuses.push(413);
  if (spec.request !== undefined && spec.request !== 'raw') statuses.push(415);
  return statuses.sort((a, b) => a - b);
}

function responses(spec: RouteSpec, components: Json): Json {
  const good = Object.entries(spec.answers).map(([status, schema]): [string, Json] => [
    status,
    schema === null
      ? { description: 'Done' }
      : { description: 'Done', content: { [spec.media ?? 'application/json']: { schema: schemaOf(schema, 'output', components) } } },
  ]);
  const error = { content: { 'application/json': { schema: schemaOf(errorBody, 'output', components) } } };
  const bad = refusalsOf(spec).map((status): [string, Json] => [String(status), { description: REFUSALS[status], ...error }]);
  return Object.fromEntries([...good, ...bad]);
}

/** Named schemas become components, referred to by name. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any', override: dropAlternatives })).replaceAll(
      '#/$defs/',
      '#/components/schemas/',
    ),
  ) as Json & { $defs?: Json };
  for (const [id, definition] of Object.entries($defs)) define(components, id, definition);
  const name = schema.meta()?.id;
  if (name === undefined) return rest;
  // A named schema that is asked for itself stands among its own definitions.
  if (!(name in $defs)) define(components, name, rest);
  return { $ref: `#/components/schemas/${name}` };
}

/** One name, one meaning: a schema that reads differently as a request and as an answer needs two names. */
function define(components: Json, name: string, definition: unknown): void {
  if (components[name] !== undefined && !isDeepStrictEqual(components[name], definition))
    throw new Error(`The schema ${name} has two forms in the document; name them apart.`);
  components[name] = definition;
}

/** Query lists are given as texts or lists of texts; what they mean is in `type`. */
function dropAlternatives({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema['type'] === undefined) return;
  delete jsonSchema['anyOf'];
  if (jsonSchema['type'] === 'boolean') delete jsonSchema['enum'];
}
