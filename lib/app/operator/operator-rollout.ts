import { type HistogramBar, histogram } from '../../domain/operator/histogram.ts';
import { ROLLOUT_STATUSES, type RolloutStatus } from '../../domain/operator/rollout-status.ts';
import type { AppState } from '../../domain/shared/fleet.ts';
import type { EngineServices } from '../engine/services.ts';
import { readGate } from '../engine/wave-facts.ts';
import { invalid } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';
import { readFleet } from './fleet-rows.ts';
import { type OperatorRow, rowsOf } from './rows.ts';

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

/** All rows and the numbers of one look at the fleet. */
interface Look {
  readonly rows: readonly OperatorRow[];
  readonly summary: OperatorSummary;
  readonly histogram: readonly HistogramBar[];
}

/** A look at more clusters than this is shown again for a while; smaller fleets are always looked at anew. */
const SMALL_FLEET = 500;
/** So many times as long as it took: looking costs at most a tenth of the time, whatever the fleet's size … */
const SHOWN_AGAIN = 10;
/** … and rows are never older than a tick (SPEC §3.8). */
const OLDEST_MS = 60_000;

/**
 * SPEC §5: the operator on the fleet. Summary and histogram are the whole fleet's; the rows are those that the filters leave, by organization,
 * workspace and cluster.
 */
export class OperatorBoard {
  readonly #services: EngineServices;
  #last: { readonly look: Look; readonly until: number } | null = null;

  constructor(services: EngineServices) {
    this.#services = services;
  }

  async read(filters: OperatorFilters, page: PageRequest): Promise<OperatorRollout> {
    const start = startOf(page);
    const { rows, summary, histogram } = await this.#look();
    const kept = rows.filter(passes(filters));
    const end = start + page.page_size;
    return { summary, histogram, count: kept.length, rows: kept.slice(start, end), cursor: end < kept.length ? String(end) : null };
  }

  async #look(): Promise<Look> {
    if (this.#last !== null && performance.now() < this.#last.until) return this.#last.look;
    const started = performance.now();
    const look = await lookAt(this.#services);
    const took = performance.now() - started;
    const shown = look.rows.length <= SMALL_FLEET ? 0 : Math.min(took * SHOWN_AGAIN, OLDEST_MS);
    this.#last = { look, until: performance.now() + shown };
    return look;
  }
}

async function lookAt(services: EngineServices): Promise<Look> {
  const fleet = await readFleet(services);
  const [rows, gate] = await Promise.all([rowsOf(services, fleet), readGate(services, fleet.settings.OPERATOR_ROLLOUT_PERCENTAGE)]);
  const states = rows.map((row) => row.state ?? 'unknown');
  const summary = {
    clusters: rows.length,
    desired_version: fleet.desired_version,
    percentage: fleet.settings.OPERATOR_ROLLOUT_PERCENTAGE,
    gate_places: gate.places,
    gate_updating: gate.updating,
    by_status: counted(
      ROLLOUT_STATUSES,
      rows.map((row) => row.rollout_status),
    ),
    by_state: counted(['OK', 'WARNING', 'CRITICAL', 'unknown'], states),
    stuck: rows.filter((row) => row.stuck).length,
  };
  return { rows: [...rows].sort(byPlace), summary, histogram: histogram(rows.map((row) => row.installed_version)) };
}

/** The cursor is the place in the list, as in the engine's lists. */
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

function passes(f: OperatorFilters): (row: OperatorRow) => boolean {
  const text = f.search?.toLowerCase();
  return (row) =>
    (f.organizations === undefined || f.organizations.includes(row.organization_id)) &&
    (f.workspaces === undefined || f.workspaces.includes(row.workspace_id)) &&
    (f.k8s_cluster === undefined || f.k8s_cluster === row.cluster_id) &&
    (f.state === undefined || f.state === row.state) &&
    (f.rollout_status === undefined || f.rollout_status === row.rollout_status) &&
    (f.installed_version === undefined || f.installed_version === row.installed_version) &&
    (f.blocker === undefined || row.blockers.some((blocker) => blocker.code === f.blocker)) &&
    (text === undefined || [row.cluster, row.workspace, row.organization].some((name) => name.toLowerCase().includes(text)));
}

const place = (row: OperatorRow): string => [row.organization, row.workspace, row.cluster].join('\u0000');
const byPlace = (a: OperatorRow, b: OperatorRow): number => (place(a) < place(b) ? -1 : 1);
