import type { DispatchBatchInput, DispatchBatchOutput, WaveOrder } from '../../contracts/workflow/wave.ts';
import { claimDeadline, needsVerification } from '../../domain/action-run/verification.ts';
import { triesLeft } from '../../domain/item/retry.ts';
import type { PlanFacts } from '../../domain/plan/facts.ts';
import { numbersOf } from '../../domain/plan/numbers.ts';
import { OPERATOR_APP } from '../../domain/shared/fleet.ts';
import type { ActionRun, Item } from '../../domain/shared/rollout.ts';
import { type Instant, SECOND } from '../../domain/shared/time.ts';
import { encodeInboxRun } from '../agents/presence.ts';
import { derivedId } from '../derived-ids.ts';
import { newManaged } from '../managed.ts';
import type { EngineChange, InboxChange, Refusal } from './ports.ts';
import { releaseBlock } from './release-block.ts';
import type { EngineServices } from './services.ts';
import { planFactsOf, readFrame, type WaveFrame } from './wave-facts.ts';

/** One item about to start: what the transaction needs of it. */
interface Start {
  readonly order: WaveOrder;
  readonly before: Item;
  readonly after: Item;
  readonly run: ActionRun;
  readonly entry: string;
  /** Presence row of the cluster's own operator; null for a workspace-level block. */
  readonly own: string | null;
}

/**
 * SPEC §3.11: every limit is a condition of the write that takes the slot. An item that is refused is left to the next plan, the others go
 * again; when the wave itself refuses (paused, blocked, no slot, another driver), nothing of the batch starts.
 */
export async function dispatchBatch(services: EngineServices, input: DispatchBatchInput): Promise<DispatchBatchOutput> {
  const all = input.batch.orders;
  const now = services.clock.now();
  const frame = await readFrame(services, input.block_rollout, now);
  if (frame === null || frame.state.wave.driver !== input.execution) return { dispatched: 0, refused: all.length };
  const facts = planFactsOf(frame);
  const prepared = await prepare(services, frame, all, now);
  await Promise.all(prepared.exhausted.map((item) => endExhausted(services, item, now)));
  let starts = within(frame, facts, prepared.starts);
  while (starts.length > 0) {
    const answer = await services.engine.commit(changeOf(frame, facts, starts, now));
    if (answer.ok) break;
    starts = withoutRefused(starts, answer.refused);
  }
  noteStarts(services, input, starts);
  return { dispatched: starts.length, refused: all.length - starts.length };
}

function noteStarts({ log, metrics, clock }: EngineServices, input: DispatchBatchInput, starts: readonly Start[]): void {
  const about = { wave: input.block_rollout, execution: input.execution };
  const { orders, planned_at = null } = input.batch;
  log.info('batch_dispatched', { ...about, dispatched: starts.length, refused: orders.length - starts.length });
  for (const { run, order } of starts)
    log.info('item_dispatched', { ...about, item: order.item, run: run.id, agent: run.agent, attempt: run.attempt, forced: order.forced });
  if (starts.length === 0) return;
  metrics.count('Dispatched', starts.length);
  if (planned_at !== null) metrics.took('DispatchDelaySeconds', clock.now() - Date.parse(planned_at));
}

/** As many as there are places; the gate lets forced ones through (SPEC §5). */
function within(frame: WaveFrame, facts: PlanFacts, starts: readonly Start[]): Start[] {
  const { free } = numbersOf(facts);
  let gate = frame.gate === null ? Number.POSITIVE_INFINITY : frame.gate.places - frame.gate.updating;
  const places = starts.slice(0, Math.max(0, free));
  return places.filter(({ order }) => {
    gate -= 1;
    return order.forced || gate >= 0;
  });
}

async function prepare(
  services: EngineServices,
  frame: WaveFrame,
  orders: readonly WaveOrder[],
  now: Instant,
): Promise<{ starts: Start[]; exhausted: Item[] }> {
  const { rules } = planFactsOf(frame);
  const due = orders.filter((o) => o.not_after === null || now < Date.parse(o.not_after));
  const items = await services.engine.items(due.map((o) => o.item));
  const isExhausted = (item: Item): boolean => item.status === 'retrying' && triesLeft(item.tries, rules.max_retries) === 0;
  const starts = due.flatMap((order) => {
    const item = items.get(order.item);
    const waiting = item?.status === 'pending' || item?.status === 'retrying';
    if (item === undefined || !waiting || isExhausted(item) || item.rollout !== frame.state.wave.id) return [];
    const verify = needsVerification({
      verify_version: rules.verify_version,
      action: item.action_name,
      target_version: item.rendered_target_version,
      app_reported: order.app_reported || (order.app === OPERATOR_APP && item.k8s_cluster !== null),
    });
    return startOf(services, frame, order, item, verify, now);
  });
  return { starts, exhausted: [...items.values()].filter(isExhausted) };
}

/** SPEC I7: max_retries was lowered while it waited for its next try. */
async function endExhausted(services: EngineServices, item: Item, now: Instant): Promise<void> {
  const reason = 'no_tries_left';
  const after: Item = {
    ...item,
    status: 'failed',
    reason,
    retry_after: null,
    parked_until: null,
    park_reason: null,
    completed_at: now,
    updated_at: now,
  };
  await services.engine.commit({ items: [{ before: item, after }], blocks: [releaseBlock(item, { outcome: 'failed', reason })] });
}

function startOf(services: EngineServices, frame: WaveFrame, order: WaveOrder, item: Item, verify: boolean, now: Instant): Start {
  const rules = planFactsOf(frame).rules;
  const id = services.ids.fresh();
  const attempt = item.attempts.length + 1;
  const notAfter = order.not_after === null ? null : Date.parse(order.not_after);
  const deadline = now + rules.action_timeout_seconds * SECOND;
  const run: ActionRun = {
    ...newRun(item, id, now),
    agent: order.agent,
    attempt,
    verify,
    version_at_dispatch: order.version,
    soak_seconds: verify ? rules.soak_seconds : 0,
    deadline,
    claim_by: claimDeadline(now, frame.ruling.settings.AGENT_REPORT_INTERVAL_SECONDS, notAfter),
  };
  const after: Item = {
    ...item,
    status: 'in_progress',
    action_run: id,
    attempts: [...item.attempts, id],
    tries: item.tries + 1,
    retry_count: item.tries,
    retry_after: null,
    parked_until: null,
    park_reason: null,
    absent_since: null,
    dispatched_at: now,
    updated_at: now,
  };
  const inbox = {
    block: item.block_name,
    action: item.action_name,
    attempt,
    deadline,
    app: verify ? order.app : null,
    target: item.rendered_target_version,
    finished: false,
  };
  const own = item.k8s_cluster === null ? null : derivedId.operatorAgent(services.ids, item.k8s_cluster);
  return { order, before: item, after, run, entry: encodeInboxRun(inbox), own };
}

function newRun(
  item: Item,
  id: string,
  now: Instant,
): Omit<ActionRun, 'agent' | 'attempt' | 'verify' | 'version_at_dispatch' | 'soak_seconds' | 'deadline' | 'claim_by'> {
  return {
    ...newManaged({ id, name: `${item.action_name} ${item.block_name}`, now }),
    block: item.block,
    block_name: item.block_name,
    action: item.action_name,
    organization: item.organization,
    workspace: item.workspace,
    k8s_cluster: item.k8s_cluster,
    rollout: item.rollout,
    rollout_config: item.rollout_config,
    item: item.id,
    status: 'pending',
    phase: 'queued',
    status_reason: null,
    exit_code: null,
    cancel_requested: false,
    rendered_target_version: item.rendered_target_version,
    config_hash: item.config_hash,
    started_at: null,
    finished_at: null,
    dispatched_at: now,
  };
}

/** One transaction: wave, gate, platform, and per item the item, its run and a place in the agent's inbox (DESIGN A8). */
function changeOf(frame: WaveFrame, facts: PlanFacts, starts: readonly Start[], now: Instant): EngineChange {
  const { wave, ended } = frame.state;
  const numbers = numbersOf(facts);
  const held = starts.filter((s) => !s.order.forced).length;
  const gate = frame.gate;
  return {
    items: starts.map(({ before, after }) => ({ before, after })),
    runs: starts.map(({ run }) => ({ before: null, after: run })),
    inbox: inboxes(frame, starts, now),
    waves: [
      {
        id: wave.id,
        driver: wave.driver ?? '',
        status_in: ['active'],
        no_enqueue_runs: true,
        max_started: numbers.slots - facts.older_in_progress + ended - starts.length,
        max_failed: numbers.max_failed,
      },
    ],
    ...(gate === null ? {} : { gate: { start: starts.length, max_started: held === 0 ? null : gate.places + gate.ended - held } }),
    unless_platform_paused: true,
  };
}

/** One write per agent. Where another agent than the cluster's own does the work, the cluster's own row says whether it is paused. */
function inboxes(frame: WaveFrame, starts: readonly Start[], now: Instant): InboxChange[] {
  const heard_since = now - frame.ruling.settings.AGENT_WARNING_AFTER_SECONDS * SECOND + 1;
  const byAgent = new Map<string, InboxChange>();
  for (const { order, run, entry } of starts) {
    const add = [...(byAgent.get(order.agent)?.add ?? []), { run: run.id, entry }];
    byAgent.set(order.agent, { agent: order.agent, add, heard_since, now });
  }
  for (const { own } of starts) if (own !== null && !byAgent.has(own)) byAgent.set(own, { agent: own, now });
  return [...byAgent.values()];
}

/** A refused item leaves; a refused presence row takes along whom it concerns; anything else refuses the whole batch. */
function withoutRefused(starts: readonly Start[], refused: readonly Refusal[]): Start[] {
  if (refused.some((r) => r.what !== 'item' && r.what !== 'run' && r.what !== 'inbox')) return [];
  const out = new Set(refused.map((r) => r.id));
  const left = starts.filter((s) => !out.has(s.before.id) && !out.has(s.run.id) && !out.has(s.order.agent) && !out.has(s.own ?? ''));
  return left.length < starts.length ? left : [];
}
