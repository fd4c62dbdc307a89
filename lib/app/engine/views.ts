import { progressOf } from '../../domain/action-run/verification.ts';
import { earliestStart, holdsOf } from '../../domain/plan/holds.ts';
import { numbersOf } from '../../domain/plan/numbers.ts';
import type { ActionRun, Blocker, Item, Wave } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { baseOf } from '../../domain/wave/counters.ts';
import { failureRate } from '../../domain/wave/failure.ts';
import { notFound } from '../errors.ts';
import type { EngineServices } from './services.ts';
import { planFactsOf, readCandidates, readFrame } from './wave-facts.ts';
import { itemsOf } from './wave-items.ts';

export interface WaveView {
  readonly wave: Wave;
  readonly failure_rate: number;
  readonly failures_by_reason: readonly { readonly reason: string; readonly count: number; readonly sample_run: string | null }[];
  readonly slots: number;
  readonly free_slots: number;
}

/** SPEC §3.5: a wave as people read it, with the numbers of its next decision. */
export async function waveView(services: EngineServices, id: string): Promise<WaveView> {
  const frame = await readFrame(services, id, services.clock.now());
  if (frame === null) throw notFound(`Wave ${id}`);
  const { wave } = frame.state;
  const numbers = numbersOf(planFactsOf(frame));
  return {
    wave,
    failure_rate: failureRate(wave.counters.failed, baseOf(wave.counters)),
    failures_by_reason: wave.counters.failed === 0 ? [] : await failuresByReason(services, wave),
    slots: numbers.slots,
    free_slots: Math.max(0, numbers.free),
  };
}

async function failuresByReason(services: EngineServices, wave: Wave): Promise<WaveView['failures_by_reason']> {
  const byReason = new Map<string, { count: number; sample_run: string | null }>();
  for await (const items of itemsOf(services, wave, (item) => item.status === 'failed')) {
    for (const item of items) {
      const reason = item.reason ?? 'unknown';
      const entry = byReason.get(reason) ?? { count: 0, sample_run: item.action_run };
      byReason.set(reason, { ...entry, count: entry.count + 1 });
    }
  }
  return [...byReason].map(([reason, entry]) => ({ reason, ...entry })).sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

export interface ItemView {
  readonly item: Item;
  readonly blockers: readonly Blocker[];
  readonly earliest_start: Instant | null;
}

/** SPEC §3.8: everything that holds an item now, computed when it is read. */
export async function itemView(services: EngineServices, id: string): Promise<ItemView> {
  const item = await services.engine.item(id);
  if (item === null) throw notFound(`Item ${id}`);
  return itemViewOf(services, item);
}

export async function itemViewOf(services: EngineServices, item: Item): Promise<ItemView> {
  const now = services.clock.now();
  if (item.status === 'in_progress') return { item, blockers: await progress(services, item), earliest_start: null };
  const [waiting] = await waitingViews(services, [item], now);
  return waiting ?? { item, blockers: [], earliest_start: null };
}

/** The views of those of these items that wait, in no order; each of their waves is read once. */
export async function waitingViews(services: EngineServices, items: readonly Item[], now: Instant): Promise<ItemView[]> {
  const waiting = items.filter((item) => item.status === 'pending' || item.status === 'retrying');
  const waves = [...Map.groupBy(waiting, (item) => item.rollout)];
  const views = await Promise.all(waves.map(([wave, own]) => viewsInWave(services, wave, own, now)));
  return views.flat();
}

async function viewsInWave(services: EngineServices, wave: string, items: readonly Item[], now: Instant): Promise<ItemView[]> {
  const frame = await readFrame(services, wave, now);
  if (frame === null) return [];
  const ids = items.map((item) => item.id);
  return (await readCandidates(services, frame, ids, now)).map((candidate) => {
    const blockers = holdsOf(planFactsOf(frame), candidate, now);
    return { item: candidate.item, blockers, earliest_start: earliestStart(blockers, now) };
  });
}

async function progress(services: EngineServices, item: Item): Promise<Blocker[]> {
  const run = item.action_run === null ? null : await services.engine.run(item.action_run);
  const shown = run === null ? null : progressOf(run);
  return shown === null ? [] : [shown];
}

export interface RunView {
  readonly run: ActionRun;
  readonly log_stdout: string | null;
  readonly log_stderr: string | null;
}

export async function runView(services: EngineServices, id: string): Promise<RunView> {
  const [run, log] = await Promise.all([services.engine.run(id), services.engine.log(id)]);
  if (run === null) throw notFound(`Action run ${id}`);
  return { run, log_stdout: log?.stdout ?? null, log_stderr: log?.stderr ?? null };
}
