import type { JsonObject } from '../../domain/shared/fleet.ts';
import type { Item, Wave } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { Ids, Notice, NoticeEvent } from '../ports.ts';

/** Longer reasons are in the item or the wave itself. */
const MAX_TEXT = 1_000;

export function noticeOf(
  services: { ids: Ids },
  event: NoticeEvent,
  about: { readonly subject: string; readonly organization: string | null; readonly data?: JsonObject },
  text: string,
  now: Instant,
): Notice {
  const { subject, organization, data = {} } = about;
  return { id: services.ids.fresh(), event, at: now, subject, organization, text: text.slice(0, MAX_TEXT), data };
}

/** Waves belong to no organization: a notice of one is the platform team's. */
export function waveNotice(services: { ids: Ids }, event: NoticeEvent & `wave_${string}`, wave: Wave, words: string, now: Instant): Notice {
  const data = { rollout_config: wave.rollout_config, target_version: wave.target_version, counters: { ...wave.counters } };
  return noticeOf(services, event, { subject: wave.id, organization: null, data }, `Wave ${wave.batch_identifier} ${words}`, now);
}

export function itemFailed(services: { ids: Ids }, item: Item, now: Instant): Notice {
  const { id, organization, rollout, k8s_cluster, workspace, block, action_name, block_name, reason } = item;
  const data = { block_rollout: rollout, k8s_cluster, workspace, block, action_name };
  return noticeOf(
    services,
    'item_failed',
    { subject: id, organization, data },
    `${action_name} of ${block_name} failed: ${reason ?? ''}`,
    now,
  );
}
