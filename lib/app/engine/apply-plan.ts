import type { LaneOrder, ParkOrder, Plan, SkipOrder } from '../../domain/plan/facts.ts';
import type { Item, WaveStatus } from '../../domain/shared/rollout.ts';
import { type Instant, SECOND } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { waveNotice } from './notices.ts';
import { openKeyOf } from './open-key.ts';
import type { EngineChange, WaveChange } from './ports.ts';
import { releaseBlock } from './release-block.ts';
import type { EngineServices } from './services.ts';
import { unparkCluster } from './unpark.ts';
import type { WaveFrame } from './wave-facts.ts';

/** Items of one transaction of parks or skips: each with its block at most, beside wave, calendars and shards. */
const ITEMS_AT_ONCE = 25;

/**
 * Writes what the plan decided besides starts: the wave's state, parked and skipped items, when to look again. False = something moved meanwhile
 * and the decision has to be made again.
 */
export async function applyPlan(services: EngineServices, frame: WaveFrame, decided: Plan, now: Instant): Promise<boolean> {
  const moved = await Promise.all([
    ...chunks(decided.park).map((orders) => park(services, frame, orders, now)),
    ...chunks(decided.lane).map((orders) => intoLane(services, frame, orders, now)),
    ...chunks(decided.skip).map((orders) => skip(services, frame, orders, now)),
  ]);
  if (moved.includes(false)) return false;
  return updateWave(services, frame, decided, now);
}

const chunks = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / ITEMS_AT_ONCE) }, (_, i) => all.slice(i * ITEMS_AT_ONCE, (i + 1) * ITEMS_AT_ONCE));

/** One by one when the whole is refused, so that an item that moved on does not keep the others. */
async function each<T>(services: EngineServices, orders: readonly T[], changeOf: (orders: readonly T[]) => EngineChange): Promise<boolean> {
  if ((await services.engine.commit(changeOf(orders))).ok) return true;
  const single = await Promise.all(orders.map((order) => services.engine.commit(changeOf([order]))));
  return single.every((s) => s.ok);
}

async function park(services: EngineServices, frame: WaveFrame, orders: readonly ParkOrder[], now: Instant): Promise<boolean> {
  const parked = await each(services, orders, (some) => ({
    items: some.map(({ item, until, reason, absent_since }) => ({
      before: item,
      after: { ...item, parked_until: until, park_reason: reason, absent_since, updated_at: now },
    })),
    waves: [{ id: frame.state.wave.id }],
  }));
  await unparkArrived(services, frame, orders, now);
  return parked;
}

function intoLane(services: EngineServices, frame: WaveFrame, orders: readonly LaneOrder[], now: Instant): Promise<boolean> {
  return each(services, orders, (some) => ({
    items: some.map(({ item, calendar }) => ({
      before: item,
      after: { ...item, calendar, parked_until: null, park_reason: null, absent_since: null, updated_at: now },
    })),
    waves: [{ id: frame.state.wave.id }],
  }));
}

const ABSENT: readonly ParkOrder['reason'][] = ['agent_missing', 'agent_silent'];

/** An agent that reported between the plan's look and the parking found nothing to unpark: it is looked for once more. */
async function unparkArrived(services: EngineServices, frame: WaveFrame, orders: readonly ParkOrder[], now: Instant): Promise<void> {
  const clusters = orders.flatMap(({ item, reason }) => (ABSENT.includes(reason) && item.k8s_cluster !== null ? [item.k8s_cluster] : []));
  if (clusters.length === 0) return;
  const heard_since = now - frame.ruling.settings.AGENT_WARNING_AFTER_SECONDS * SECOND;
  const agents = await services.presence.getMany(clusters.map((cluster) => derivedId.operatorAgent(services.ids, cluster)));
  for (const { k8s_cluster: id, organization, workspace, last_seen } of agents)
    if (id !== null && last_seen !== null && last_seen > heard_since)
      await unparkCluster(services, { id, organization, workspace }, ABSENT);
}

function skip(services: EngineServices, frame: WaveFrame, orders: readonly SkipOrder[], now: Instant): Promise<boolean> {
  return each(services, orders, (some) => ({
    items: some.map(({ item, reason }) => ({ before: item, after: skipped(item, reason, now) })),
    blocks: some.map(({ item, reason }) => releaseBlock(item, { outcome: 'skipped', reason })),
    waves: [{ id: frame.state.wave.id }],
  }));
}

/** An item that ends without an attempt running (SPEC §3). */
export const skipped = (item: Item, reason: string, now: Instant): Item => ({
  ...item,
  status: 'skipped',
  reason,
  completed_at: now,
  retry_after: null,
  parked_until: null,
  park_reason: null,
  absent_since: null,
  updated_at: now,
});

async function updateWave(services: EngineServices, frame: WaveFrame, decided: Plan, now: Instant): Promise<boolean> {
  const { wave, lag_rounds } = frame.state;
  const over = decided.next === 'completed' || decided.next === 'blocked' || decided.next === 'cancelled';
  const recheck_at = over ? null : decided.recheck_at;
  const unchanged = decided.status === null && wave.recheck_at === recheck_at && lag_rounds === decided.lag_rounds && !over;
  if (unchanged || (decided.next === 'replan' && decided.status === null)) return true;
  const change: WaveChange = {
    id: wave.id,
    driver: wave.driver ?? '',
    set: { recheck_at, lag_rounds: decided.lag_rounds, ...(over ? { driver: null } : {}), ...statusPart(decided, now) },
    ...(decided.status === null ? {} : { status_in: [wave.status], total_is: wave.counters.total }),
    ...(decided.status?.to === 'completed' ? closing(frame) : {}),
  };
  const notices = decided.status === null ? [] : waveNotices(services, frame, decided.status, now);
  const committed = await services.engine.commit({ waves: [change], notices });
  if (committed.ok && (decided.next === 'completed' || decided.next === 'cancelled')) await services.engine.forgetRunningWave(wave);
  return committed.ok;
}

function statusPart(decided: Plan, now: Instant): WaveChange['set'] {
  if (decided.status === null) return {};
  const { to, reason } = decided.status;
  return { status: to, status_reason: reason, ...(to === 'completed' ? { completed_at: now } : {}) };
}

function closing(frame: WaveFrame): Pick<WaveChange, 'close'> {
  const key = openKeyOf(frame.state.wave);
  return key === null ? {} : { close: key };
}

/** SPEC §11, once per change of state: it is written in the same transaction. */
function waveNotices(services: EngineServices, frame: WaveFrame, status: { to: WaveStatus; reason: string }, now: Instant) {
  const { wave } = frame.state;
  const notify = status.to === 'completed' || (status.to === 'blocked' && (frame.ruling.config?.notify_on_wave_blocked ?? true));
  if (!notify) return [];
  const { done, failed, skipped, total } = wave.counters;
  const event = status.to === 'completed' ? 'wave_completed' : 'wave_blocked';
  const words = `is ${status.to}: ${done} of ${total} done, ${failed} failed, ${skipped} skipped (${status.reason}).`;
  return [waveNotice(services, event, wave, words, now)];
}
