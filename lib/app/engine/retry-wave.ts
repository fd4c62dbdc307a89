import type { Item, Wave } from '../../domain/shared/rollout.ts';
import { blockReason, excessFailures } from '../../domain/wave/brake.ts';
import { OPEN_WAVE } from '../../domain/wave/transitions.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { urlOf } from '../urls.ts';
import { skipped } from './apply-plan.ts';
import { auditOf } from './audit.ts';
import { type Ruling, readRuling, rulesOf } from './configs.ts';
import { waveNotice } from './notices.ts';
import type { EngineChange } from './ports.ts';
import { releaseBlock } from './release-block.ts';
import { renderTarget } from './render.ts';
import type { EngineServices } from './services.ts';
import { driveWave } from './wake.ts';
import { itemsOf } from './wave-items.ts';

export interface RetryAnswer {
  readonly wave: Wave;
  readonly retried: number;
  readonly conflicts: readonly { readonly item: string; readonly conflict: { readonly id: string; readonly url: string } }[];
  readonly still_to_retry_or_skip: number;
}

/**
 * SPEC §3.9: failed items (all or chosen) go back to pending with fresh tries under their original target and config, and the wave is active
 * again unless its failure rate is still above the threshold. An item whose block has another active item is reported, the rest goes on.
 */
export async function retryWave(
  services: EngineServices,
  id: string,
  options: { items?: readonly string[] },
  actor: string,
): Promise<RetryAnswer> {
  const state = await services.engine.wave(id);
  if (state === null) throw notFound(`Wave ${id}`);
  const { wave } = state;
  if (wave.status === 'active' || wave.status === 'paused') {
    throw conflict(
      `Wave ${wave.batch_identifier} is ${wave.status}: only a blocked, completed or cancelled wave's failed items are retried.`,
    );
  }
  if (wave.status === 'cancelled') await skipWaiting(services, wave);
  const ruling = await readRuling(services, wave.rollout_config);
  const failed = await failedItems(services, wave, options.items);
  await refuseOldTarget(services, ruling, failed);
  const conflicts: RetryAnswer['conflicts'][number][] = [];
  let retried = 0;
  for (const item of failed) {
    const other = await retryItem(services, item, actor);
    if (other === null) retried += 1;
    else conflicts.push({ item: item.id, conflict: { id: other, url: urlOf('block_rollout_item', other) } });
  }
  const still = await reactivate(services, wave, ruling, retried);
  await driveWave(services, id);
  return { wave: (await services.engine.wave(id))?.wave ?? wave, retried, conflicts, still_to_retry_or_skip: still };
}

/** SPEC §3.9: in a cancelled wave only the retried items run, so what its driver has not skipped yet is skipped now. */
async function skipWaiting(services: EngineServices, wave: Wave): Promise<void> {
  const now = services.clock.now();
  for await (const items of itemsOf(services, wave, (item) => item.status === 'pending' || item.status === 'retrying'))
    await Promise.all(
      items.map((item) =>
        services.engine.commit({
          items: [{ before: item, after: skipped(item, 'cancelled', now) }],
          blocks: [releaseBlock(item, { outcome: 'skipped', reason: 'cancelled' })],
        }),
      ),
    );
}

async function failedItems(services: EngineServices, wave: Wave, chosen: readonly string[] | undefined): Promise<Item[]> {
  if (chosen === undefined) {
    const all: Item[] = [];
    for await (const items of itemsOf(services, wave, (item) => item.status === 'failed')) all.push(...items);
    return all;
  }
  const items = await services.engine.items(chosen, true);
  return chosen.map((id) => {
    const item = items.get(id);
    if (item === undefined || item.rollout !== wave.id) throw invalid('items', `Item ${id} is not one of this wave.`, 'does_not_exist');
    if (item.status !== 'failed') throw conflict(`Item ${id} is ${item.status}; only failed items are retried.`);
    return item;
  });
}

/** SPEC §3.9: refused when the target is no longer the items': a retry would bring an old version back. */
async function refuseOldTarget(services: EngineServices, { config, settings }: Ruling, failed: readonly Item[]): Promise<void> {
  const first = failed[0];
  if (config === null || first === undefined || config.target_version === null) return;
  const [organization, workspace, cluster] = await Promise.all([
    services.objects.get('organization', first.organization),
    services.objects.get('workspace', first.workspace),
    first.k8s_cluster === null ? null : services.objects.get('k8s_cluster', first.k8s_cluster),
  ]);
  if (organization === null || workspace === null) return;
  const override = cluster?.rollout_override.version_override ?? null;
  const rendered = await renderTarget(services, config, settings, { organization, workspace, cluster }, override);
  if (!rendered.ok || rendered.target_version === first.rendered_target_version) return;
  throw conflict(
    `The target is ${rendered.target_version ?? 'none'} now, these items were for ${first.rendered_target_version ?? 'none'}. ` +
      'Trigger the config, or let reconciliation make new items.',
  );
}

/** null = retried; else the item that has the block's place. */
async function retryItem(services: EngineServices, item: Item, actor: string): Promise<string | null> {
  const now = services.clock.now();
  const after: Item = {
    ...item,
    status: 'pending',
    tries: 0,
    retry_count: 0,
    retry_after: null,
    completed_at: null,
    action_run: null,
    reason: null,
    updated_at: now,
  };
  const change: EngineChange = {
    items: [{ before: item, after }],
    blocks: [{ id: item.block, take: item.id, set: { remembered: {} } }],
    audits: [
      auditOf(
        services,
        actor,
        'item.retry',
        { type: 'block_rollout_item', id: item.id, organization: item.organization },
        { before: { status: item.status, reason: item.reason }, after: { status: 'pending' } },
        now,
      ),
    ],
  };
  if ((await services.engine.commit(change)).ok) return null;
  const block = await services.objects.get('block', item.block, true);
  const active = block?.active_item ?? null;
  return active === item.id ? null : (active ?? item.id);
}

/** Active at once if the rate allows it; else blocked, and the answer says how many more are too many (SPEC §3.5). */
async function reactivate(services: EngineServices, wave: Wave, ruling: Ruling, retried: number): Promise<number> {
  const fresh = (await services.engine.wave(wave.id))?.wave ?? wave;
  const rules = rulesOf(ruling);
  const above = blockReason(fresh.counters, rules) !== null;
  const still = above ? excessFailures(fresh.counters, rules) : 0;
  const now = services.clock.now();
  const reopen = retried > 0 || fresh.status === 'blocked';
  if (!reopen || (above && fresh.status === 'blocked')) return still;
  await services.engine.reopenRunningWave(fresh);
  const notify = above && (ruling.config?.notify_on_wave_blocked ?? true);
  const words = `is blocked after a retry: ${still} more failed items must be retried or skipped.`;
  const done = await services.engine.commit({
    ...(notify ? { notices: [waveNotice(services, 'wave_blocked', fresh, words, now)] } : {}),
    waves: [
      {
        id: wave.id,
        status_in: [fresh.status],
        set: {
          status: above ? 'blocked' : 'active',
          status_reason: above ? 'failure_threshold' : null,
          completed_at: null,
          recheck_at: now,
        },
      },
    ],
  });
  const to = above ? 'blocked' : 'active';
  if (done.ok) services.log.info('wave_changed', { wave: wave.id, from: fresh.status, to, reason: 'retry' });
  return OPEN_WAVE.includes(fresh.status) || above ? still : 0;
}
