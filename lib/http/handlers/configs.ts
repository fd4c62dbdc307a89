import type { EngineServices } from '../../app/engine/services.ts';
import { triggerNow } from '../../app/engine/trigger-now.ts';
import { previewConfig } from '../../app/resources/config-preview.ts';
import { type ConfigRequest, createConfig, updateConfig } from '../../app/resources/configs.ts';
import { targetIds } from '../../app/resources/scope.ts';
import type { ResourceServices } from '../../app/resources/services.ts';
import { find } from '../../app/resources/write.ts';
import { urlOf } from '../../app/urls.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { Call, HandlersOf } from '../api-types.ts';
import { type Reply, reply } from '../event.ts';
import { envelope, pageRequest } from '../paging.ts';
import { iso, isoOrNull } from '../present/common.ts';
import { config as presented, scopeNames } from '../present/config.ts';
import { resourceHandlers } from './resource.ts';

type ListQuery = Parameters<HandlersOf<'configs'>['list']>[0]['query'];

export function configHandlers(services: ResourceServices, engine: EngineServices): HandlersOf<'configs'> {
  const shown = async (rows: readonly BlockRolloutConfig[]) => {
    const [names, states] = await Promise.all([scopeNames(services.objects, rows), services.schedules.many(rows.map((row) => row.id))]);
    return rows.map((row) => presented(row, names, states.get(row.id) ?? null, services.clock.now()));
  };
  const one = async (config: BlockRolloutConfig) => (await shown([config]))[0];
  const { list, get, archive, remove } = resourceHandlers<'block_rollout_config', ListQuery, ConfigRequest, ConfigRequest>(services, {
    type: 'block_rollout_config',
    present: shown,
    narrow: async ({ active, kind }) => ({
      also: (row) => (active === undefined || row.active === active) && (kind === undefined || row.kind === kind),
    }),
    create: async (body, { actor }) => (await createConfig(services, body, actor)).config,
    update: async (id, body, { actor }) => (await updateConfig(services, id, body, actor)).config,
  });
  const change = async ({ id, body, actor }: Call<unknown, ConfigRequest>): Promise<Reply> => {
    const { config, targets_in_scope } = await updateConfig(services, id, body, actor);
    return reply(200, { ...(await one(config)), targets_in_scope });
  };
  return {
    ...{ list, get, archive, remove },
    create: async ({ body, actor }) => {
      const { config, targets_in_scope } = await createConfig(services, body, actor);
      return reply(201, { ...(await one(config)), targets_in_scope });
    },
    replace: change,
    update: change,
    triggerNow: async ({ id, body, actor }) => {
      const { wave, enqueued, already_active } = await triggerNow(engine, id, body, actor);
      const config = await find(services, 'block_rollout_config', id);
      const rollout = wave === null ? null : { id: wave.id, url: urlOf('block_rollout', wave.id) };
      const targets_in_scope = (await targetIds(services, config)).size;
      return reply(200, { ...(await one(config)), targets_in_scope, rollout, enqueued, already_active });
    },
    preview: async ({ id, query, address }) => {
      const page = pageRequest(query);
      const { rows, cursor, count, next_fires, ...totals } = await previewConfig(engine, id, page);
      const shown = rows.map((row) => ({
        ...row,
        earliest_start: isoOrNull(row.earliest_start),
        scheduled_starts: row.scheduled_starts.map(isoOrNull),
      }));
      const fires = next_fires.map(({ at, local }) => ({ at: iso(at), local }));
      return reply(200, { ...totals, next_fires: fires, ...envelope({ rows, cursor, count }, shown, page, address) });
    },
  };
}
