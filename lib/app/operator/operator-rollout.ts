import { type HistogramBar, histogram } from '../../domain/operator/histogram.ts';
import { ROLLOUT_STATUSES, type RolloutStatus } from '../../domain/operator/rollout-status.ts';
import type { AppState } from '../../domain/shared/fleet.ts';
import { MINUTE } from '../../domain/shared/time.ts';
import type { EngineServices } from '../engine/services.ts';
import { readGate } from '../engine/wave-facts.ts';
import { invalid } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';
import type { Board, Entry } from './board.ts';
import { type OperatorTarget, readFacts, readOperatorTarget } from './cluster-facts.ts';
import { byPlace, ownSign, refreshBoard } from './refresh-board.ts';
import { entryOf, type OperatorRow, rowsOf, withTarget } from './rows.ts';

export interface OperatorFilters {
  readonly organizations?: readonly string[];
  readonly workspaces?: readonly string[];
  readonly k8s_cluster?: string;
  readonly search?: string;
  readonly state?: AppState;
  readonly rollout_status?: RolloutStatus;
  readonly installed_version?: string;
  readonly blocker?: string;
}

export interface OperatorSummary {
  readonly clusters: number;
  readonly desired_version: string | null;
  readonly percentage: number;
  readonly gate_places: number;
  readonly gate_updating: number;
  readonly by_status: Readonly<Record<string, number>>;
  readonly by_state: Readonly<Record<string, number>>;
  readonly stuck: number;
}

export interface OperatorRollout extends Page<OperatorRow> {
  readonly summary: OperatorSummary;
  readonly histogram: readonly HistogramBar[];
}

/** The tick has not run for so long that the board says nothing any more. */
const TOO_OLD = 5 * MINUTE;
/** More clusters than this that people have changed since the last tick are looked at by the next. */
const LOOKED_AT_AT_ONCE = 200;

/**
 * SPEC §5, DESIGN A4: the operator on the fleet. Which clusters there are, and which of them the filters leave, comes from the board, which is a
 * tick old at most; a cluster that a person has changed since is looked at anew, and so are those that the page shows. What is read besides
 * the board does not grow with the fleet.
 */
export async function operatorRollout(services: EngineServices, filters: OperatorFilters, page: PageRequest): Promise<OperatorRollout> {
  const start = startOf(page);
  const target = await readOperatorTarget(services);
  const entries = await entriesOf(services, target);
  const kept = entries.filter(passes(filters));
  const end = start + page.page_size;
  const [rows, summary] = await Promise.all([shownRows(services, target, kept.slice(start, end)), summaryOf(services, target, entries)]);
  return {
    summary,
    histogram: histogram(entries.map(({ facts }) => facts.installed_version)),
    count: kept.length,
    rows,
    cursor: end < kept.length ? String(end) : null,
  };
}

/** All clusters, with what people have done since the board was written. */
async function entriesOf(services: EngineServices, target: OperatorTarget): Promise<readonly Entry[]> {
  const [board, touches] = await Promise.all([recentBoard(services), services.board.touched(LOOKED_AT_AT_ONCE)]);
  const now = services.clock.now();
  const moved = target.desired_version !== board.marks.desired_version;
  const entries = moved ? board.entries.map((entry) => withTarget(entry, target, now)) : board.entries;
  if (touches.length === 0) return entries;
  const touched = new Set(touches.map(({ cluster }) => cluster));
  const { facts, rows: agents } = await readFacts(services, target, [...touched]);
  const fresh = await rowsOf(services, target, facts, agents);
  const replaced = facts.flatMap((one, at) => {
    const row = fresh[at];
    return row === undefined ? [] : [entryOf(one, row, ownSign(services, agents, one.cluster_id))];
  });
  return [...entries.filter(({ facts: { cluster_id } }) => !touched.has(cluster_id)), ...replaced].sort(byPlace);
}

async function recentBoard(services: EngineServices): Promise<Board> {
  const board = await services.board.read();
  if (board !== null && services.clock.now() - board.at < TOO_OLD) return board;
  await refreshBoard(services);
  const fresh = await services.board.read();
  if (fresh === null) throw new Error('the operator board was written and is not there');
  return fresh;
}

/** The page's rows as they are now; one that is gone meanwhile is left out. */
async function shownRows(services: EngineServices, target: OperatorTarget, shown: readonly Entry[]): Promise<OperatorRow[]> {
  if (shown.length === 0) return [];
  const ids = shown.map(({ facts }) => facts.cluster_id);
  const { facts, rows: agents } = await readFacts(services, target, ids);
  const rows = new Map((await rowsOf(services, target, facts, agents)).map((row) => [row.cluster_id, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

async function summaryOf(services: EngineServices, target: OperatorTarget, entries: readonly Entry[]): Promise<OperatorSummary> {
  const { OPERATOR_ROLLOUT_PERCENTAGE: percentage } = target.settings;
  const gate = await readGate(services, percentage);
  return {
    clusters: entries.length,
    desired_version: target.desired_version,
    percentage,
    gate_places: gate.places,
    gate_updating: gate.updating,
    by_status: counted(
      ROLLOUT_STATUSES,
      entries.map(({ status }) => status),
    ),
    by_state: counted(
      ['OK', 'WARNING', 'CRITICAL', 'unknown'],
      entries.map(({ state }) => state ?? 'unknown'),
    ),
    stuck: entries.filter(({ stuck }) => stuck).length,
  };
}

/** The cursor is the place in the list. */
function startOf(page: PageRequest): number {
  if (page.cursor === null) return (page.page - 1) * page.page_size;
  if (!/^\d{1,9}$/.test(page.cursor)) throw invalid('cursor', 'is not a cursor of this list; take it from the "next" of the page before.');
  return Number(page.cursor);
}

function counted(keys: readonly string[], values: readonly string[]): Record<string, number> {
  const counts = new Map(keys.map((key) => [key, 0]));
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function passes(f: OperatorFilters): (entry: Entry) => boolean {
  const text = f.search?.toLowerCase();
  return ({ facts, state, status, blockers }) =>
    (f.organizations === undefined || f.organizations.includes(facts.organization_id)) &&
    (f.workspaces === undefined || f.workspaces.includes(facts.workspace_id)) &&
    (f.k8s_cluster === undefined || f.k8s_cluster === facts.cluster_id) &&
    (f.state === undefined || f.state === state) &&
    (f.rollout_status === undefined || f.rollout_status === status) &&
    (f.installed_version === undefined || f.installed_version === facts.installed_version) &&
    (f.blocker === undefined || blockers.some((code) => code === f.blocker)) &&
    (text === undefined || [facts.cluster, facts.workspace, facts.organization].some((name) => name.toLowerCase().includes(text)));
}
