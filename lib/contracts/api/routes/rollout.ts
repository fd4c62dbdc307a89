import * as z from 'zod';
import { itemStatus, reasonBody, runStatus, source, waveStatus } from '../common.ts';
import * as configs from '../configs.ts';
import * as operator from '../operator-rollout.ts';
import { filter, historyQuery, listQuery, ownedHistoryQuery, pagingQuery } from '../paging.ts';
import * as rollouts from '../rollouts.ts';
import { readRoutes, resourceRoutes, route } from '../route.ts';

const nothing = z.strictObject({});
const waveVerb = (verb: string, summary: string) =>
  ({
    path: `block-rollouts/{id}/${verb}`,
    method: 'POST',
    right: 'admin',
    summary,
    answers: { 200: rollouts.wave },
    conflicts: true,
  }) as const;

const configRoutes = resourceRoutes({
  path: 'block-rollout-configs',
  word: 'rollout config',
  one: configs.config,
  create: configs.createConfig,
  update: configs.updateConfig,
  query: listQuery({ active: filter.flag.exactOptional(), kind: configs.configKind.exactOptional() }),
});
const preview = { path: 'block-rollout-configs/{id}/preview', right: 'read_all', answers: { 200: configs.preview } } as const;
const previewQuery = z.strictObject(pagingQuery);

/** Configs, waves, items, attempts, and the operator on the fleet. */
export const rolloutRoutes = {
  configs: {
    ...configRoutes,
    create: route({ ...configRoutes.create, answers: { 201: configs.configWritten } }),
    replace: route({ ...configRoutes.replace, answers: { 200: configs.configWritten } }),
    update: route({ ...configRoutes.update, answers: { 200: configs.configWritten } }),
    triggerNow: route({
      path: 'block-rollout-configs/{id}/trigger-now',
      method: 'POST',
      right: 'admin',
      summary: 'Roll out now, without waiting for the trigger or a window',
      request: configs.triggerNow,
      answers: { 200: configs.triggered },
      conflicts: true,
    }),
    preview: route({ ...preview, method: 'GET', summary: 'What the config would do now, target by target', query: previewQuery }),
  },
  waves: {
    ...readRoutes({
      path: 'block-rollouts',
      word: 'wave',
      row: rollouts.wave,
      one: rollouts.waveDetail,
      query: historyQuery({ rollout_config: filter.id.exactOptional(), status: waveStatus.exactOptional() }),
    }),
    update: route({
      path: 'block-rollouts/{id}',
      method: 'PATCH',
      right: 'admin',
      summary: 'Pause (status paused), resume (active) or cancel (cancelled) a wave',
      request: rollouts.updateWave,
      answers: { 200: rollouts.wave },
      conflicts: true,
    }),
    pause: route({ ...waveVerb('pause', 'Start nothing more; running work finishes'), request: reasonBody }),
    resume: route({ ...waveVerb('resume', 'Go on'), request: nothing }),
    cancel: route({ ...waveVerb('cancel', 'Skip what waits and ask agents to stop'), request: nothing }),
    retry: route({ ...waveVerb('retry', 'Try failed items again'), request: rollouts.retryWave, answers: { 200: rollouts.waveRetried } }),
  },
  items: {
    ...readRoutes({
      path: 'block-rollout-items',
      word: 'item',
      row: rollouts.item,
      one: rollouts.itemDetail,
      query: ownedHistoryQuery({
        block: filter.id.exactOptional(),
        rollout: filter.id.exactOptional(),
        k8s_cluster: filter.id.exactOptional(),
        status: itemStatus.exactOptional(),
        source: source.exactOptional(),
      }),
    }),
    create: route({
      path: 'block-rollout-items',
      method: 'POST',
      right: 'admin',
      summary: 'Trigger an action of one block by hand',
      request: rollouts.createItem,
      answers: { 201: rollouts.item },
      conflicts: true,
    }),
    skip: route({
      path: 'block-rollout-items/{id}/skip',
      method: 'POST',
      right: 'admin',
      summary: 'Skip an item that waits or has failed',
      request: reasonBody,
      answers: { 200: rollouts.item },
      conflicts: true,
    }),
    force: route({
      path: 'block-rollout-items/{id}/force',
      method: 'POST',
      right: 'admin',
      summary: 'Start an item ahead of window, gate and order',
      request: rollouts.forceItem,
      answers: { 200: rollouts.item },
      conflicts: true,
    }),
  },
  runs: readRoutes({
    path: 'action-runs',
    word: 'action run',
    row: rollouts.actionRun,
    one: rollouts.actionRunDetail,
    query: ownedHistoryQuery({
      action: filter.text.exactOptional(),
      blocks: filter.ids.exactOptional(),
      k8s_cluster: filter.id.exactOptional(),
      rollout: filter.id.exactOptional(),
      item: filter.id.exactOptional(),
      status: runStatus.exactOptional(),
    }),
  }),
  operator: {
    list: route({
      path: 'operator-rollout',
      method: 'GET',
      right: 'read_all',
      summary: 'The operator on the fleet: numbers, versions and one row per cluster',
      query: z.strictObject({
        ...pagingQuery,
        search: filter.text.exactOptional(),
        organizations: filter.ids.exactOptional(),
        workspaces: filter.ids.exactOptional(),
        k8s_cluster: filter.id.exactOptional(),
        state: z.enum(['OK', 'WARNING', 'CRITICAL']).exactOptional(),
        rollout_status: operator.rolloutStatus.exactOptional(),
        installed_version: filter.text.exactOptional(),
        blocker: filter.text.exactOptional(),
      }),
      answers: { 200: operator.operatorRollout },
    }),
    forceUpdate: route({
      path: 'operator-rollout/{id}/force-update',
      method: 'POST',
      right: 'admin',
      summary: 'Update the operator of one cluster now',
      request: nothing,
      answers: { 200: rollouts.item },
      conflicts: true,
    }),
    pause: route({
      path: 'operator-rollout/{id}/pause',
      method: 'POST',
      right: 'admin',
      summary: 'Start nothing more on one cluster',
      request: rollouts.pauseCluster,
      answers: { 200: operator.clusterPaused },
    }),
    resume: route({
      path: 'operator-rollout/{id}/resume',
      method: 'POST',
      right: 'admin',
      summary: 'Let a paused cluster take part again',
      request: nothing,
      answers: { 200: operator.clusterPaused },
    }),
  },
} as const;
