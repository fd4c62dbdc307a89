import { HISTORY_BUDGET, historyEventsOfTurn, MAX_BATCHES, MAX_ORDERS_PER_BATCH } from '../../contracts/workflow/history.ts';
import type { PlanWaveInput, PlanWaveOutput, WaveNext, WaveOrder } from '../../contracts/workflow/wave.ts';
import type { Plan, PlanFacts } from '../../domain/plan/facts.ts';
import { heldBy } from '../../domain/plan/held-by.ts';
import { calendarOpen } from '../../domain/plan/holds.ts';
import { numbersOf } from '../../domain/plan/numbers.ts';
import { plan } from '../../domain/plan/plan.ts';
import { DAY, type Instant, MINUTE, SECOND } from '../../domain/shared/time.ts';
import { applyPlan } from './apply-plan.ts';
import type { EngineServices } from './services.ts';
import { wakeFormerDriver } from './wake.ts';
import { fingerprint, planFactsOf, readCandidates, readFrame, type WaveFrame } from './wave-facts.ts';

/** Most candidates that one plan reads; what is left is read by the next. */
const MOST_CANDIDATES = 800;
/** Parking and skipping without starting anything is repeated within one call at most this often. */
const MOST_ROUNDS = 40;

/** SPEC §3, DESIGN §5: one turn of a wave's driver. Claims the wave first; an execution that lost it ends as `taken_over`. */
export async function planWave(services: EngineServices, input: PlanWaveInput): Promise<PlanWaveOutput> {
  if (input.turn === 0) {
    if (!(await services.engine.claimDriver(input.block_rollout, input.execution, input.generation))) return ended(input, 'taken_over', '');
    await wakeFormerDriver(services, input.block_rollout, input.execution);
  }
  for (let round = 1; ; round++) {
    const now = services.clock.now();
    const frame = await readFrame(services, input.block_rollout, now);
    if (frame === null || frame.state.wave.driver !== input.execution) return ended(input, 'taken_over', '');
    const facts = await withCandidates(services, frame, now);
    const decided = plan(facts, now);
    const applied = await applyPlan(services, frame, decided, now);
    if (applied) explain(services, input, facts, decided);
    services.metrics.took('DecisionSeconds', services.clock.now() - now);
    if (!applied && round < MOST_ROUNDS) continue;
    if (decided.next !== 'replan') return turnOf(services, input, frame, decided, now);
    if (round >= MOST_ROUNDS) return output(input, 'await', { recheck_at: now + SECOND, now, seen: '' });
  }
}

/** Reads what may start next, never more: cost follows the free places, not the waiting items (DESIGN A6, A7). */
async function withCandidates(services: EngineServices, frame: WaveFrame, now: Instant): Promise<PlanFacts> {
  const facts = planFactsOf(frame);
  const { wave } = frame.state;
  if (wave.status === 'cancelled') return withItems(services, frame, facts, await services.engine.waiting(wave.id, 200), now);
  const stopped = wave.status !== 'active' || facts.platform_paused !== null || wave.enqueue_runs.length > 0;
  if (stopped) return facts;
  const limit = candidateLimit(facts);
  const open = facts.calendars.filter((c) => c.ready > 0 && calendarOpen(facts, c));
  const [lanes, parked] = await Promise.all([
    Promise.all(open.map((c) => services.engine.ready(wave.id, c.key, limit))),
    services.engine.parkedDue(wave.id, now, limit),
  ]);
  const complete = lanes.every((ids) => ids.length < limit) && parked.ids.length < limit;
  const read = await withItems(services, frame, facts, [...new Set([...lanes.flat(), ...parked.ids])], now);
  return { ...read, next_parked_at: parked.next_at, candidates_complete: complete };
}

async function withItems(
  services: EngineServices,
  frame: WaveFrame,
  facts: PlanFacts,
  ids: readonly string[],
  now: Instant,
): Promise<PlanFacts> {
  return { ...facts, candidates: await readCandidates(services, frame, ids, now), candidates_complete: ids.length < 200 };
}

/** Twice the free places, so that held ones do not leave places empty; a few even when there are none, for forced items and skips. */
function candidateLimit(facts: PlanFacts): number {
  const { free } = numbersOf(facts);
  const gate = facts.gate === null ? free : Math.min(free, facts.gate.places - facts.gate.updating);
  return Math.min(MOST_CANDIDATES, 2 * Math.max(gate, 0) + 5);
}

/** One line for each decision: what it starts, what it leaves waiting and by what, the wave's state, when it is looked at again. */
function explain({ log, metrics }: EngineServices, input: PlanWaveInput, facts: PlanFacts, decided: Plan): void {
  const { wave } = facts;
  const about = { wave: wave.id, execution: input.execution };
  const { numbers, status, next, recheck_at } = decided;
  log.info('wave_planned', {
    ...about,
    next,
    status: status?.to ?? wave.status,
    reason: status?.reason ?? wave.status_reason,
    dispatched: decided.dispatch.length,
    parked: decided.park.length,
    skipped: decided.skip.length,
    held: heldBy(facts, decided),
    recheck_at: new Date(recheck_at).toISOString(),
    numbers: { ...numbers },
  });
  if (status !== null) log.info('wave_changed', { ...about, from: wave.status, to: status.to, reason: status.reason });
  if (decided.lag_rounds === 0) return;
  metrics.count('IndexBehind');
  log.warn('index_behind', { ...about, numbers: { rounds: decided.lag_rounds } });
}

async function turnOf(
  services: EngineServices,
  input: PlanWaveInput,
  frame: WaveFrame,
  decided: Plan,
  now: Instant,
): Promise<PlanWaveOutput> {
  switch (decided.next) {
    case 'dispatch':
      return startsSomething(services, input, decided, now);
    case 'completed':
    case 'cancelled':
      return ended(input, decided.next, '');
    case 'blocked':
      return ended(input, 'blocked', blockedCause(frame, decided));
    default:
      return mustContinue(services, input)
        ? output(input, 'continue', { recheck_at: decided.recheck_at, now, seen: '' })
        : output(input, 'await', { recheck_at: decided.recheck_at, now, seen: fingerprint(services, frame) });
  }
}

/**
 * The next generation goes on before this history is full, or when another definition was deployed. Not on the first turn: with a wrong
 * setting, executions would follow each other without ever doing anything.
 */
function mustContinue({ definition }: EngineServices, input: PlanWaveInput): boolean {
  const replaced = definition !== null && input.definition !== definition && input.turn > 0;
  return replaced || input.events > HISTORY_BUDGET;
}

function startsSomething(services: EngineServices, input: PlanWaveInput, decided: Plan, now: Instant): PlanWaveOutput {
  const orders: WaveOrder[] = decided.dispatch.slice(0, MAX_BATCHES * MAX_ORDERS_PER_BATCH).map((o) => ({
    item: o.item.id,
    agent: o.agent,
    forced: o.forced,
    not_after: o.not_after === null ? null : new Date(o.not_after).toISOString(),
    version: o.installed.version,
    app: o.installed.app,
    app_reported: o.installed.reported,
  }));
  const planned_at = new Date(now).toISOString();
  const batches = Array.from({ length: Math.ceil(orders.length / MAX_ORDERS_PER_BATCH) }, (_, i) => ({
    planned_at,
    orders: orders.slice(i * MAX_ORDERS_PER_BATCH, (i + 1) * MAX_ORDERS_PER_BATCH),
  }));
  const next = mustContinue(services, input) ? 'continue' : 'dispatch';
  return output(input, next, { recheck_at: decided.recheck_at, now, seen: '', batches });
}

interface Turn {
  readonly recheck_at: Instant;
  readonly now: Instant;
  readonly seen: string;
  readonly batches?: PlanWaveOutput['batches'];
  readonly cause?: string;
}

function output(input: PlanWaveInput, next: WaveNext, turn: Turn): PlanWaveOutput {
  const wait = Math.min(DAY, Math.max(SECOND, turn.recheck_at - turn.now));
  const batches = turn.batches ?? [];
  return {
    next,
    block_rollout: input.block_rollout,
    generation: input.generation,
    turn: input.turn + 1,
    events: input.events + historyEventsOfTurn(batches.length),
    execution: input.execution,
    batches,
    max_concurrency: 4,
    wait_seconds: Math.ceil(wait / SECOND),
    recheck_at: new Date(turn.recheck_at).toISOString(),
    seen: turn.seen,
    cause: turn.cause ?? '',
  };
}

const ended = (input: PlanWaveInput, next: WaveNext, cause: string): PlanWaveOutput =>
  output(input, next, { recheck_at: MINUTE, now: 0, seen: '', cause });

/** SPEC §3.5: the console shows the numbers of a blocked wave. */
function blockedCause(frame: WaveFrame, { numbers }: Plan): string {
  const { wave } = frame.state;
  const { failed, base, threshold_percent } = numbers;
  return (
    `Wave ${wave.batch_identifier} is blocked: ${failed} of ${base} failed, more than ${threshold_percent} % are not allowed. ` +
    `Look at failures_by_reason of /api/v1/block-rollouts/${wave.id}/, mend the cause, then retry the failed items, skip them, or cancel the wave.`
  );
}
