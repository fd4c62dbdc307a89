import type { WaveState } from '../../app/engine/ports.ts';
import { laneCalendar } from '../../domain/item/lane.ts';
import { dispatchKey } from '../../domain/item/order.ts';
import { MANAGED_DEFAULTS } from '../../domain/shared/defaults.ts';
import type { ActionRun, Item, Wave } from '../../domain/shared/rollout.ts';
import { DAY } from '../../domain/shared/time.ts';
import { countersOf } from '../../domain/wave/counters.ts';
import { pack, packShort, STORED_ITEM, STORED_RUN, unpack, unpackShort } from './codec.ts';
import { keys } from './keys.ts';
import type { Row } from './row.ts';

const RUN_RETENTION = 90 * DAY;
const seconds = (at: number): number => Math.ceil(at / 1000);

export const isWaiting = (item: Item | null): boolean => item?.status === 'pending' || item?.status === 'retrying';
export const isReady = (item: Item | null): item is Item => isWaiting(item) && item?.parked_until === null;

/** Waiting items stand in the ready lane of their calendar or in the wave's parked lane; all others in none. */
function laneOf(item: Item): Record<string, string> {
  if (!isWaiting(item)) return {};
  if (item.parked_until === null) return { gsi2pk: keys.readyLane(item.rollout, laneCalendar(item)), gsi2sk: dispatchKey(item) };
  return { gsi2pk: keys.parkedLane(item.rollout), gsi2sk: keys.parkedSort(item.parked_until, item.id) };
}

export function itemRow(item: Item): Row {
  return {
    ...keys.item(item.id),
    ...keys.itemListing(item.rollout, item.organization, item.id),
    ...laneOf(item),
    entity: 'item',
    schema_version: 1,
    ...packShort(item, STORED_ITEM),
  };
}

export const itemFrom = (row: Row): Item => unpackShort<Item>(row, STORED_ITEM);

/** When an open run has to be looked at: not claimed in time, or past its deadline. */
export const dueAt = (run: ActionRun): number => (run.status === 'pending' ? Math.min(run.claim_by, run.deadline) : run.deadline);

/**
 * A change that puts the deadline off leaves the earlier place in the due lane, since moving it would cost more than the write itself; the sweep
 * finds it too early once and moves it then.
 */
export function runRow(run: ActionRun, before: ActionRun | null): Row {
  const due = before === null ? dueAt(run) : Math.min(dueAt(before), dueAt(run));
  return runRowDue(run, due);
}

export function runRowDue(run: ActionRun, due: number): Row {
  return {
    ...keys.run(run.id),
    ...keys.runListing(run.organization, run.id),
    ...(run.phase === 'ended' ? { expires_at: seconds((run.finished_at ?? run.dispatched_at) + RUN_RETENTION) } : keys.dueRun(run.id, due)),
    entity: 'run',
    schema_version: 1,
    ...packShort(run, STORED_RUN),
  };
}

export const runFrom = (row: Row): ActionRun => unpackShort<ActionRun>(row, STORED_RUN);

const WAVE_DEFAULTS: Partial<Wave> & { lag_rounds: number } = {
  ...MANAGED_DEFAULTS,
  rollout_config: null,
  owner_kind: null,
  target_version: null,
  template_revision: 0,
  source: 'scheduler',
  reason: null,
  status_reason: null,
  last_item_added_at: null,
  canary_reviewed: false,
  driver: null,
  generation: 0,
  recheck_at: null,
  completed_at: null,
  lag_rounds: 0,
};

/** Sums kept on the row; successes are on the shards. */
const TALLIES = ['total', 'started', 'ended', 'failed', 'skipped'] as const;

export function newWaveRow(wave: Wave): Row {
  const { counters, enqueue_runs, ...rest } = wave;
  return {
    ...keys.waveRow(wave.id),
    ...keys.listing('block_rollout', null, [], wave.id),
    entity: 'wave',
    schema_version: 1,
    ...pack(rest, WAVE_DEFAULTS),
    ...(enqueue_runs.length > 0 ? { enqueue_runs: new Set(enqueue_runs) } : {}),
    ...Object.fromEntries(TALLIES.map((name) => [name, 0])),
    ...(wave.recheck_at === null ? {} : keys.due('wave', wave.recheck_at, wave.id)),
  };
}

/** The partition's rows in key order: done shards, calendars, the wave itself. */
export function waveFrom(rows: readonly Row[]): WaveState | null {
  const row = rows.find((r) => r.sk === 'W');
  if (row === undefined) return null;
  const number = (r: Row, name: string): number => (r[name] as number | undefined) ?? 0;
  const done = rows.filter((r) => r.sk.startsWith('C#')).reduce((sum, r) => sum + number(r, 'done'), 0);
  const ended = number(row, 'ended') + done;
  const {
    total,
    started,
    ended: _ended,
    failed,
    skipped,
    lag_rounds,
    enqueue_runs,
    ...rest
  } = unpack<Record<string, unknown>>(row, WAVE_DEFAULTS);
  const counters = countersOf({
    total: total as number,
    started: started as number,
    ended,
    done,
    failed: failed as number,
    skipped: skipped as number,
  });
  const runs = enqueue_runs instanceof Set ? [...(enqueue_runs as Set<string>)].sort() : [];
  return {
    wave: { ...rest, counters, enqueue_runs: runs } as unknown as Wave,
    started: started as number,
    ended,
    ready: rows.filter((r) => r.sk.startsWith('CAL#')).map((r) => ({ calendar: r.sk.slice('CAL#'.length), count: number(r, 'ready') })),
    lag_rounds: lag_rounds as number,
  };
}
