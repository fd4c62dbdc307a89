import { ACTIVE_ITEM, itemTransition } from '../../domain/item/transitions.ts';
import type { Item } from '../../domain/shared/rollout.ts';
import { conflict, invalid, notFound, stale } from '../errors.ts';
import { skipped } from './apply-plan.ts';
import { auditOf } from './audit.ts';
import type { BlockChange } from './ports.ts';
import { releaseBlock } from './release-block.ts';
import type { EngineServices } from './services.ts';
import { touchItem } from './touch.ts';
import { driveWave } from './wake.ts';

const TRIES = 8;

/** SPEC §3.9: a waiting item ends skipped; a failed one no longer counts in the failure rate. */
export const skipItem = (services: EngineServices, id: string, reason: string | null, actor: string): Promise<Item> =>
  change(services, id, 'item.skip', actor, (item, now) => {
    const allowed = itemTransition(item.status, item.status === 'failed' ? 'skip_failed' : 'skip');
    if (!allowed.ok) throw conflict(`Item ${id}: ${allowed.detail}.`);
    const why = reason ?? 'skipped_by_hand';
    const block = ACTIVE_ITEM.includes(item.status) ? [releaseBlock(item, { outcome: 'skipped', reason: why })] : [];
    return { after: skipped(item, why, now), block };
  });

/**
 * SPEC §3.9: goes first and past window, gate and CRITICAL; past a freeze only with a reason. What else holds it still holds it: a paused
 * cluster or wave, a silent or missing agent, no free slot.
 */
export async function forceItem(
  services: EngineServices,
  id: string,
  options: { override_freeze: boolean; reason: string | null },
  actor: string,
): Promise<Item> {
  if (options.override_freeze && (options.reason ?? '').trim() === '')
    throw invalid('reason', 'Overriding a freeze needs a reason; it is kept in the audit.', 'required');
  return change(services, id, 'item.force', actor, (item, now) => {
    if (item.status !== 'pending' && item.status !== 'retrying')
      throw conflict(`Item ${id} is ${item.status}; only a waiting item can be forced.`);
    const parked = { parked_until: null, park_reason: null };
    return {
      after: { ...item, ...parked, forced: true, override_freeze: options.override_freeze || item.override_freeze, updated_at: now },
      block: [],
    };
  });
}

async function change(
  services: EngineServices,
  id: string,
  action: string,
  actor: string,
  decide: (item: Item, now: number) => { after: Item; block: BlockChange[] },
): Promise<Item> {
  for (let round = 1; round <= TRIES; round++) {
    const before = await services.engine.item(id);
    if (before === null) throw notFound(`Item ${id}`);
    const now = services.clock.now();
    const { after, block } = decide(before, now);
    const audit = auditOf(
      services,
      actor,
      action,
      { type: 'block_rollout_item', id, organization: before.organization },
      {
        before: { status: before.status, forced: before.forced },
        after: { status: after.status, forced: after.forced, reason: after.reason },
      },
      now,
    );
    const committed = await services.engine.commit({
      items: [{ before, after }],
      blocks: block,
      audits: [audit],
      waves: [{ id: before.rollout, set: { recheck_at: now } }],
    });
    if (!committed.ok) continue;
    await touchItem(services, before);
    await driveWave(services, before.rollout);
    return { ...after, version: before.version + 1 };
  }
  throw stale('The item is being changed by somebody else; try again.');
}
