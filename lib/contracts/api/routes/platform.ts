import * as z from 'zod';
import { labelKeys } from '../clusters.ts';
import * as imports from '../import.ts';
import * as keys from '../keys.ts';
import { filter, listQuery, page } from '../paging.ts';
import { MEGABYTE, route } from '../route.ts';
import * as settings from '../system-config.ts';

const settingsAt = { path: 'system-config', aliases: ['system/config'] } as const;

function keyRoutes<C extends z.ZodType, M extends z.ZodType>(path: string, word: string, create: C, made: M, secrets: readonly string[]) {
  return {
    list: route({
      path,
      method: 'GET',
      right: 'admin',
      summary: `List ${word}s`,
      query: listQuery({}),
      answers: { 200: page(keys.accessKey) },
    }),
    create: route({
      path,
      method: 'POST',
      right: 'admin',
      summary: `Make an ${word}; it is shown once`,
      request: create,
      answers: { 201: made },
      secrets,
    }),
    get: route({ path: `${path}/{id}`, method: 'GET', right: 'admin', summary: `Read an ${word}`, answers: { 200: keys.accessKey } }),
    remove: route({
      path: `${path}/{id}`,
      method: 'DELETE',
      right: 'admin',
      summary: `Revoke an ${word}`,
      answers: { 204: null },
      conflicts: true,
    }),
  } as const;
}

/** Settings, keys, imports, and what describes the API itself. */
export const platformRoutes = {
  systemConfig: {
    get: route({ ...settingsAt, method: 'GET', right: 'read_all', summary: 'Read SystemConfig', answers: { 200: settings.systemConfig } }),
    update: route({
      ...settingsAt,
      method: 'PATCH',
      right: 'admin',
      summary: 'Change keys of SystemConfig',
      request: settings.updateSystemConfig,
      answers: { 200: settings.systemConfigWritten },
      conflicts: true,
    }),
  },
  apiKeys: keyRoutes('api-keys', 'API key', keys.createApiKey, keys.apiKeyMade, ['key']),
  agentKeys: keyRoutes('agent-keys', 'agent key', keys.createAgentKey, keys.agentKeyMade, ['key', 'manifest']),
  imports: {
    create: route({
      path: 'import',
      method: 'POST',
      right: 'admin',
      summary: 'Import a fleet file (YAML or JSON, gzip allowed)',
      request: 'raw',
      query: z.strictObject({ prune: filter.flag.exactOptional() }),
      answers: { 202: imports.importState },
      max_bytes: 4 * MEGABYTE,
      conflicts: true,
    }),
    get: route({
      path: 'import/{id}',
      method: 'GET',
      right: 'admin',
      summary: 'Progress of an import; asking brings it on, left alone it goes on with each tick',
      answers: { 200: imports.importState },
    }),
  },
  meta: {
    whoami: route({ path: 'whoami', method: 'GET', right: 'authenticated', summary: 'Whose key this is', answers: { 200: keys.whoami } }),
    labelKeys: route({
      path: 'label-keys',
      method: 'GET',
      right: 'read_all',
      summary: 'Label keys that the platform uses',
      answers: { 200: labelKeys },
    }),
    schema: route({
      path: 'schema',
      method: 'GET',
      right: 'public',
      summary: 'This description (OpenAPI 3.1)',
      answers: { 200: z.record(z.string(), z.unknown()) },
    }),
    metrics: route({
      path: 'metrics',
      method: 'GET',
      right: 'read_all',
      summary: 'Numbers of the platform, as Prometheus reads them',
      answers: { 200: z.string() },
      media: 'text/plain',
    }),
    health: route({
      path: 'health',
      method: 'GET',
      right: 'public',
      summary: 'Is the API up?',
      answers: { 200: z.object({ status: z.literal('ok') }) },
    }),
  },
} as const;
