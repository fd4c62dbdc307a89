import { forceItem, skipItem } from '../../app/engine/item-verbs.ts';
import { listItems, listRuns, listWaves } from '../../app/engine/lists.ts';
import { createManualItem, forceUpdate } from '../../app/engine/manual-item.ts';
import { pauseCluster, resumeCluster } from '../../app/engine/pause-cluster.ts';
import { retryWave } from '../../app/engine/retry-wave.ts';
import type { EngineServices } from '../../app/engine/services.ts';
import { itemView, runView, waveView } from '../../app/engine/views.ts';
import { cancelWave, pauseWave, resumeWave } from '../../app/engine/wave-verbs.ts';
import { invalid } from '../../app/errors.ts';
import type { Item, Wave, WaveStatus } from '../../domain/shared/rollout.ts';
import type { HandlersOf } from '../api-types.ts';
import { reply } from '../event.ts';
import { envelope } from '../paging.ts';
import { blocker, isoOrNull, parentsOf } from '../present/common.ts';
import * as present from '../present/rollout.ts';
import { split } from './filters.ts';

/** SPEC §9: a PATCH of a wave's `status` is the verb of that name; the status that it has already is no verb. */
async function setStatus(engine: EngineServices, id: string, status: WaveStatus, reason: string | null, actor: string): Promise<Wave> {
  const { wave } = await waveView(engine, id);
  if (wave.status === status) return wave;
  switch (status) {
    case 'paused':
      return pauseWave(engine, id, reason, actor);
    case 'active':
      return resumeWave(engine, id, actor);
    case 'cancelled':
      return cancelWave(engine, id, actor);
    default:
      throw invalid('status', `A wave becomes ${status} by itself; set it to paused, active or cancelled.`, 'invalid_choice');
  }
}

export const waveHandlers = (engine: EngineServices): HandlersOf<'waves'> => ({
  list: async ({ query, address }) => {
    const { page, filters } = split(query);
    const found = await listWaves(engine, { ...filters, archived: query.archived ?? null }, page);
    return reply(200, envelope(found, found.rows.map(present.wave), page, address));
  },
  get: async ({ id }) => reply(200, present.waveDetail(await waveView(engine, id))),
  update: async ({ id, body, actor }) => {
    const wave =
      body.status === undefined ? (await waveView(engine, id)).wave : await setStatus(engine, id, body.status, body.reason ?? null, actor);
    return reply(200, present.wave(wave));
  },
  pause: async ({ id, body, actor }) => reply(200, present.wave(await pauseWave(engine, id, body.reason ?? null, actor))),
  resume: async ({ id, actor }) => reply(200, present.wave(await resumeWave(engine, id, actor))),
  cancel: async ({ id, actor }) => reply(200, present.wave(await cancelWave(engine, id, actor))),
  retry: async ({ id, body, actor }) => {
    const { wave, retried, conflicts, still_to_retry_or_skip } = await retryWave(engine, id, body, actor);
    return reply(200, { ...present.wave(wave), retried, conflicts, still_to_retry_or_skip });
  },
});

/** Items and runs are never archived (SPEC §2.8: those of archived targets stay listed). */
const NONE = { count: 0, rows: [], cursor: null };

const oneItem = async (engine: EngineServices, item: Item) => present.item(item, await parentsOf(engine.objects, [item]));

export const itemHandlers = (engine: EngineServices): HandlersOf<'items'> => ({
  list: async ({ query, address }) => {
    const { page, filters } = split(query);
    const found = query.archived === true ? NONE : await listItems(engine, { ...filters, archived: null }, page);
    const parents = await parentsOf(engine.objects, found.rows);
    return reply(
      200,
      envelope(
        found,
        found.rows.map((row) => present.item(row, parents)),
        page,
        address,
      ),
    );
  },
  get: async ({ id }) => {
    const { item, blockers, earliest_start } = await itemView(engine, id);
    return reply(200, { ...(await oneItem(engine, item)), blockers: blockers.map(blocker), earliest_start: isoOrNull(earliest_start) });
  },
  create: async ({ body, actor }) => {
    const { block, action_name = 'install', reason = null, allow_downgrade = false } = body;
    return reply(201, await oneItem(engine, await createManualItem(engine, { block, action_name, reason, allow_downgrade }, actor)));
  },
  skip: async ({ id, body, actor }) => reply(200, await oneItem(engine, await skipItem(engine, id, body.reason ?? null, actor))),
  force: async ({ id, body, actor }) => {
    const options = { override_freeze: body.override_freeze ?? false, reason: body.reason ?? null };
    return reply(200, await oneItem(engine, await forceItem(engine, id, options, actor)));
  },
});

export const runHandlers = (engine: EngineServices): HandlersOf<'runs'> => ({
  list: async ({ query, address }) => {
    const { page, filters } = split(query);
    const found = query.archived === true ? NONE : await listRuns(engine, { ...filters, archived: null }, page);
    const parents = await parentsOf(engine.objects, found.rows);
    return reply(
      200,
      envelope(
        found,
        found.rows.map((row) => present.actionRun(row, parents)),
        page,
        address,
      ),
    );
  },
  get: async ({ id }) => {
    const { run, log_stdout, log_stderr } = await runView(engine, id);
    return reply(200, { ...present.actionRun(run, await parentsOf(engine.objects, [run])), log_stdout, log_stderr });
  },
});

export const clusterVerbs = (engine: EngineServices): Pick<HandlersOf<'operator'>, 'forceUpdate' | 'pause' | 'resume'> => ({
  forceUpdate: async ({ id, actor }) => reply(200, await oneItem(engine, await forceUpdate(engine, id, actor))),
  pause: async ({ id, body, actor }) => {
    await pauseCluster(engine, id, { reason: body.reason ?? null, until: body.until ?? null }, actor);
    return reply(200, { cluster_id: id, paused: true });
  },
  resume: async ({ id, actor }) => {
    await resumeCluster(engine, id, actor);
    return reply(200, { cluster_id: id, paused: false });
  },
});
