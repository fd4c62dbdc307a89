import { retryDelay, triesLeft } from '../../domain/item/retry.ts';
import { TERMINAL_ITEM } from '../../domain/item/transitions.ts';
import type { Block } from '../../domain/shared/fleet.ts';
import type { ActionRun, Item } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { EndAttempt, Outcome } from '../agents/services.ts';
import { notFound, stale } from '../errors.ts';
import { skipped } from './apply-plan.ts';
import { isOperatorBlock, operatorConfigId, readRuling, resolveLimits } from './configs.ts';
import { demandsForItem, demandWritten } from './demands.ts';
import { itemFailed } from './notices.ts';
import type { BlockChange, EngineChange } from './ports.ts';
import { releaseBlock } from './release-block.ts';
import type { EngineServices } from './services.ts';
import { wakeGate, wakeWave } from './wake.ts';

const TRIES = 8;
/** Why a running item will not be tried again (SPEC §2.7, §3.9). */
export const SUPERSEDED = 'superseded';

/**
 * SPEC §3.6, §7: an attempt ends once. One transaction over run, item, counters, inbox, block and gate; a late or doubled end changes nothing.
 */
export async function endAttempt(services: EngineServices, end: EndAttempt): Promise<{ changed: boolean; run: ActionRun }> {
  for (let round = 1; round <= TRIES; round++) {
    const run = round === 1 && end.run !== undefined ? end.run : await services.engine.run(end.run_id);
    if (run === null) throw notFound(`Action run ${end.run_id}`);
    if (run.phase === 'ended' || run.attempt !== end.attempt) {
      services.metrics.count('LateMessages');
      await wakeAgain(services, run);
      return { changed: false, run };
    }
    // Decided on a state that is no longer there, such as `not claimed`: the caller looks again.
    if (end.run !== undefined && run.phase !== end.run.phase) return { changed: false, run };
    const item = run.item === null ? null : await services.engine.item(run.item);
    const now = services.clock.now();
    const ended = await decide(services, run, item, end, now);
    const demands = item !== null && isOwed(item, ended) ? await demandsForItem(services, item) : [];
    const committed = await services.engine.commit({ ...changeOf(services, run, item, ended, now), demands });
    if (!committed.ok) continue;
    noteEnd(services, end.outcome, ended);
    if (item !== null && ended.item !== null) await wakeFor(services, item);
    for (const demand of demands) await demandWritten(services, demand);
    return { changed: true, run: { ...ended.run, version: run.version + 1 } };
  }
  throw stale('The attempt is being changed by somebody else; try again.');
}

interface Ended {
  readonly run: ActionRun;
  /** null when the run has no item, or the item has moved on. */
  readonly item: Item | null;
  readonly block: BlockChange | null;
}

async function decide(services: EngineServices, run: ActionRun, item: Item | null, end: EndAttempt, now: Instant): Promise<Ended> {
  const ended = endedRun(run, end.outcome, now);
  const holds = item?.status === 'in_progress' && item.action_run === run.id;
  if (item === null || !holds) return { run: ended, item: null, block: null };
  const after = await nextItem(services, item, end.outcome, now);
  return { run: ended, item: after, block: blockChange(item, after, end, now) };
}

function endedRun(run: ActionRun, outcome: Outcome, now: Instant): ActionRun {
  const base = { ...run, phase: 'ended' as const, finished_at: now, updated_at: now };
  switch (outcome.kind) {
    case 'success':
      return { ...base, status: 'success', exit_code: run.exit_code ?? 0 };
    case 'failed':
      return { ...base, status: 'failed', status_reason: outcome.reason, exit_code: outcome.exit_code ?? run.exit_code };
    case 'cancelled':
      return { ...base, status: 'cancelled', status_reason: 'cancelled' };
    case 'withdrawn':
      return { ...base, status: 'cancelled', status_reason: 'withdrawn' };
    case 'gone':
      return { ...base, status: 'cancelled', status_reason: 'target_gone' };
  }
}

async function nextItem(services: EngineServices, item: Item, outcome: Outcome, now: Instant): Promise<Item> {
  const done = { ...item, completed_at: now, updated_at: now };
  switch (outcome.kind) {
    case 'success':
      return { ...done, status: 'completed' };
    case 'cancelled':
      return skipped(item, 'cancelled', now);
    case 'withdrawn':
      return withdrawn(services, item, now);
    case 'gone':
      return skipped(item, 'target_gone', now);
    case 'failed':
      return failed(services, item, outcome.reason, now);
  }
}

/** SPEC §7: nobody claimed it: it waits again and no try is used. In a cancelled wave, or for an old target, there is nothing to wait for. */
async function withdrawn(services: EngineServices, item: Item, now: Instant): Promise<Item> {
  const state = await services.engine.wave(item.rollout);
  if (state?.wave.status === 'cancelled') return skipped(item, 'cancelled', now);
  if (item.reason === SUPERSEDED) return skipped(item, SUPERSEDED, now);
  const tries = Math.max(0, item.tries - 1);
  return { ...item, status: 'pending', tries, retry_count: Math.max(0, tries - 1), action_run: null, updated_at: now };
}

/** SPEC §3.6: with tries left it is `retrying` and not counted failed; cancelled and superseded items are not tried again. */
async function failed(services: EngineServices, item: Item, reason: string, now: Instant): Promise<Item> {
  const [state, ruling] = await Promise.all([services.engine.wave(item.rollout), readRuling(services, item.rollout_config)]);
  const limits = resolveLimits(ruling.config, ruling.system);
  const final = item.reason === SUPERSEDED || state?.wave.status === 'cancelled' || triesLeft(item.tries, limits.max_retries) === 0;
  if (final) return { ...item, status: 'failed', reason, completed_at: now, updated_at: now };
  const retry_after = now + retryDelay(limits.retry_base_seconds, item.tries, services.random());
  return {
    ...item,
    status: 'retrying',
    retry_count: item.tries,
    retry_after,
    parked_until: retry_after,
    park_reason: 'retry_backoff',
    updated_at: now,
  };
}

/** What the end leaves on the block; nothing while the item stays active. */
function blockChange(before: Item, after: Item, end: EndAttempt, now: Instant): BlockChange | null {
  switch (after.status) {
    case 'completed':
      return releaseBlock(before, { outcome: 'completed' }, installed(before, end, now));
    case 'failed':
      return releaseBlock(before, { outcome: 'failed', reason: after.reason }, { installation_status: failedStatus(before.action_name) });
    case 'skipped':
      return releaseBlock(before, { outcome: 'skipped', reason: after.reason }, { installation_status: 'idle' });
    default:
      return null;
  }
}

function installed(item: Item, end: EndAttempt, now: Instant): Partial<Block> {
  if (item.action_name === 'uninstall')
    return { installed_version: null, config_hash: null, installation_status: 'idle', installed_at: now };
  if (item.action_name !== 'install') return { installation_status: 'idle' };
  const reported = end.installed_version ?? item.rendered_target_version;
  return {
    ...(reported === null ? {} : { installed_version: reported, installed_at: now }),
    config_hash: item.config_hash,
    last_installed_at: now,
    installation_status: 'idle',
  };
}

const failedStatus = (action: string): Block['installation_status'] =>
  action === 'install' ? 'install_failed' : action === 'uninstall' ? 'uninstall_failed' : 'idle';

function changeOf(services: EngineServices, run: ActionRun, item: Item | null, ended: Ended, now: Instant): EngineChange {
  const gate =
    item !== null && ended.item !== null && isOperatorBlock(item.block_name)
      ? { gate: { ends: [item.k8s_cluster ?? item.workspace] } }
      : {};
  return {
    runs: [{ before: run, after: ended.run }],
    // The presence keeps a request to stop until the agent has seen it.
    inbox: [{ agent: run.agent, remove: [run.id], keep_cancels: ended.run.status_reason === 'target_gone' }],
    ...(item === null || ended.item === null ? {} : { items: [{ before: item, after: ended.item }] }),
    ...(ended.block === null ? {} : { blocks: [ended.block] }),
    ...gate,
    ...(item !== null && ended.item?.status === 'failed' ? { notices: [itemFailed(services, ended.item, now)] } : {}),
  };
}

const COUNTED = {
  success: 'AttemptsSucceeded',
  failed: 'AttemptsFailed',
  cancelled: 'AttemptsCancelled',
  gone: 'AttemptsCancelled',
  withdrawn: 'AttemptsWithdrawn',
} as const;

function noteEnd({ log, metrics }: EngineServices, outcome: Outcome, { run, item }: Ended): void {
  metrics.count(COUNTED[outcome.kind]);
  if (run.status_reason === 'timed_out') metrics.count('Timeouts');
  log.info('attempt_ended', {
    ...(run.rollout === null ? {} : { wave: run.rollout }),
    item: run.item,
    run: run.id,
    agent: run.agent,
    attempt: run.attempt,
    outcome: outcome.kind,
    reason: run.status_reason,
    exit_code: run.exit_code,
    item_status: item?.status ?? null,
    retry_after: item?.retry_after == null ? null : new Date(item.retry_after).toISOString(),
  });
}

/** SPEC §2.7: what was superseded is looked at again when it is over; written with the end, so that no crash forgets it. */
const isOwed = (before: Item, { item }: Ended): boolean =>
  before.reason === SUPERSEDED && item !== null && TERMINAL_ITEM.includes(item.status);

/** After the commit: the wave's driver may start the next one. */
async function wakeFor(services: EngineServices, item: Item): Promise<void> {
  const operator = isOperatorBlock(item.block_name);
  if (operator) await wakeGate(services);
  if (!operator || item.rollout_config !== operatorConfigId(services.ids)) await wakeWave(services, item.rollout);
}

/** The answer to the end was lost, or who wrote it died: a message that comes again tells the driver what nobody has told it. */
export async function wakeAgain(services: EngineServices, run: ActionRun): Promise<void> {
  const item = run.item === null ? null : await services.engine.item(run.item);
  if (item !== null && item.attempts.at(-1) === run.id && item.status !== 'in_progress') await wakeFor(services, item);
}
