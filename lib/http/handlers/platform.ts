import type * as z from 'zod';
import { notFound } from '../../app/errors.ts';
import type { ImportServices } from '../../app/import/ports.ts';
import { getImport, type ImportProgress, startImport } from '../../app/import/start.ts';
import type { AccessKey, Clock, GaugeStore, Metrics } from '../../app/ports.ts';
import { createAgentKey, createApiKey, findKey, type KeyFamily, revokeKey } from '../../app/resources/access-keys.ts';
import { listObjects } from '../../app/resources/list.ts';
import type { ResourceServices } from '../../app/resources/services.ts';
import { flat, updateSettings } from '../../app/resources/system-config.ts';
import { urlOf } from '../../app/urls.ts';
import type { updateSystemConfig } from '../../contracts/api/system-config.ts';
import type { Call, HandlersOf } from '../api-types.ts';
import { type Reply, reply, textReply } from '../event.ts';
import { LABEL_KEYS } from '../label-keys.ts';
import { openApi } from '../openapi.ts';
import { envelope } from '../paging.ts';
import { iso, isoOrNull, managed } from '../present/common.ts';
import { METRICS_MEDIA, metricsPage } from '../present/metrics.ts';
import { split } from './filters.ts';

const KNOWN = [
  ...(['OPERATOR_BLOCK_VERSION', 'OPERATOR_ROLLOUT_PERCENTAGE', 'AGENT_REPORT_INTERVAL_SECONDS', 'AGENT_WARNING_AFTER_SECONDS'] as const),
  ...(['AGENT_CRITICAL_AFTER_SECONDS', 'RESYNC_MINUTES', 'RETENTION_DAYS', 'AUDIT_RETENTION_DAYS', 'ROLLOUTS_PAUSED'] as const),
];

/** The flat object of the wire, sorted into what the platform knows and free keys. */
function patchOf({ allow_downgrade = false, expected_targets, ...keys }: z.output<typeof updateSystemConfig>) {
  const known = new Set<string>(KNOWN);
  const pick = (wanted: boolean) => Object.fromEntries(Object.entries(keys).filter(([key]) => known.has(key) === wanted));
  return { known: pick(true), free: pick(false), allow_downgrade, expected_targets };
}

export const settingsHandlers = (services: ResourceServices): HandlersOf<'systemConfig'> => ({
  get: async () => reply(200, flat(await services.settings.read())),
  update: async ({ body, actor }) => {
    const { updated_keys, targets_in_scope } = await updateSettings(services, patchOf(body), actor);
    return reply(200, { status: 'success', updated_keys, targets_in_scope });
  },
});

/** Everything but the hash. */
const presentKey = (key: AccessKey) => ({
  ...managed(key, key.role === 'agent' ? 'agent_key' : 'api_key'),
  prefix: key.prefix,
  role: key.role,
  access: key.access,
  organization: key.organization,
  workspace: key.workspace,
  k8s_cluster: key.k8s_cluster,
  expires_at: isoOrNull(key.expires_at),
  revoked_at: isoOrNull(key.revoked_at),
  last_used_at: isoOrNull(key.last_used_at),
});

function keyReads(services: ResourceServices, family: KeyFamily) {
  return {
    list: async ({ query, address }: Parameters<HandlersOf<'apiKeys'>['list']>[0]): Promise<Reply> => {
      const { page, filters } = split(query);
      const also = (key: AccessKey): boolean => (key.role === 'agent') === (family === 'agent_key');
      const found = await listObjects(services, 'access_key', { filters, also }, page);
      return reply(200, envelope(found, found.rows.map(presentKey), page, address));
    },
    get: async ({ id }: Call): Promise<Reply> => reply(200, presentKey(await findKey(services, family, id))),
    remove: async ({ id, actor }: Call): Promise<Reply> => {
      await revokeKey(services, family, id, actor);
      return reply(204, null);
    },
  };
}

export const apiKeyHandlers = (services: ResourceServices): HandlersOf<'apiKeys'> => ({
  ...keyReads(services, 'api_key'),
  create: async ({ body, actor }) => {
    const { record, key } = await createApiKey(services, body, actor);
    return reply(201, { ...presentKey(record), key });
  },
});

export const agentKeyHandlers = (services: ResourceServices): HandlersOf<'agentKeys'> => ({
  ...keyReads(services, 'agent_key'),
  create: async ({ body, actor, origin }) => {
    const { record, key, manifest } = await createAgentKey(services, body, origin, actor);
    return reply(201, { ...presentKey(record), key, manifest });
  },
});

const presentImport = ({ created_at, finished_at, ...progress }: ImportProgress) => ({
  ...progress,
  created_at: iso(created_at),
  finished_at: isoOrNull(finished_at),
  url: urlOf('import', progress.id),
});

export const importHandlers = (imports: ImportServices): HandlersOf<'imports'> => ({
  create: async ({ body, query, actor }) =>
    reply(202, presentImport(await startImport(imports, { body: body.bytes, actor, prune: query.prune ?? false }))),
  get: async ({ id }) => reply(200, presentImport(await getImport(imports, id))),
});

/** Where the numbers of the page come from. */
export interface Numbers {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly gauges: GaugeStore;
}

export const metaHandlers = ({ clock, metrics, gauges }: Numbers): HandlersOf<'meta'> => ({
  whoami: async ({ caller }) => {
    if (caller === null) throw notFound('Your key');
    const { key_id, expires_at, ...who } = caller;
    return reply(200, { id: key_id, ...who, expires_at: isoOrNull(expires_at) });
  },
  labelKeys: async () => reply(200, { label_keys: LABEL_KEYS }),
  schema: async () => reply(200, openApi()),
  metrics: async () => textReply(metricsPage(await gauges.read(), metrics.totals(), clock.now()), METRICS_MEDIA),
  health: async () => reply(200, { status: 'ok' }),
});
