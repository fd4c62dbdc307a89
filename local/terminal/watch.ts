import * as z from 'zod';
import type { Clock } from '../../lib/app/ports.ts';
import { operatorRollout } from '../../lib/contracts/api/operator-rollout.ts';
import { actionRun, item, itemDetail, wave as waveSchema } from '../../lib/contracts/api/rollouts.ts';
import type { Blocker, BlockerCode } from '../../lib/domain/shared/rollout.ts';
import type { ApiClient } from '../api-client.ts';
import type { Counters, View, WaveLine } from './frame.ts';
import { type Held, heldBy } from './words.ts';

export type Wave = z.infer<typeof waveSchema>;
type Item = z.infer<typeof item>;
type Run = z.infer<typeof actionRun>;

/** Waiting items that are asked for their reasons; of more, these speak for the rest. */
const SAMPLE = 12;
const RUNNING_NAMES = 8;
const KEPT_EVENTS = 50;
/** What holds the rest, who is running and the events are asked for so rarely that it costs little, in a small fleet at least so often. */
const DETAIL_SHARE = 30;
const SMALL_FLEET = 300;
const SMALL_FLEET_PAUSE = 3000;
const named = z.object({ id: z.string(), name: z.string() });

export const countersOf = (wave: Wave): Counters => ({
  total: wave.total_items,
  done: wave.completed_items,
  in_progress: wave.in_progress_items,
  pending: wave.pending_items,
  failed: wave.failed_items,
  skipped: wave.skipped_items_count,
});

const isOpen = (wave: Wave): boolean => wave.status === 'active' || wave.status === 'paused' || wave.status === 'blocked';

/** `ayedo/k8s/polycrate-operator` is `polycrate-operator` to people. */
export const shortName = (block: string): string => block.slice(block.lastIndexOf('/') + 1);

export function waveTitle(wave: Wave): string {
  const owner = wave.owner_kind === null ? '' : ` (${wave.owner_kind})`;
  const target = wave.target_version === null ? '' : ` → ${wave.target_version}`;
  return `${shortName(wave.block_name)}${target}${owner}`;
}

/** Looks at the rollouts through the HTTP API, as any client would. */
export class Watch {
  readonly #api: ApiClient;
  readonly #clock: Clock;
  readonly #address: string;
  readonly #refresh: () => Promise<void>;
  readonly #names = new Map<string, string>();
  readonly #seenRuns = new Map<string, string>();
  readonly #events: string[] = [];
  #firstLook = true;
  #details = new Map<string, Pick<WaveLine, 'held' | 'running'>>();
  #detailsDueAt = 0;
  #reading: Promise<void> | null = null;
  #isSmall = false;

  /** `refresh` brings the operator board up to date: who watches a small fleet does not wait for the tick. */
  constructor(api: ApiClient, clock: Clock, address: string, refresh: () => Promise<void> = async () => undefined) {
    this.#refresh = refresh;
    this.#api = api;
    this.#clock = clock;
    this.#address = address;
  }

  waves(): Promise<readonly Wave[]> {
    return this.#api.page('block-rollouts/?page_size=50', waveSchema).then(({ results }) => results);
  }

  /** `thorough` = with details that are new, whatever they cost; otherwise counters do not wait for details. */
  async look(waves: readonly Wave[], thorough = false): Promise<View> {
    await this.#informed(waves, thorough);
    const operator = await this.#api.get('operator-rollout/?page_size=1', operatorRollout);
    this.#isSmall = operator.summary.clusters <= SMALL_FLEET;
    return {
      now: this.#clock.now(),
      address: this.#address,
      clusters: operator.summary.clusters,
      desired_version: operator.summary.desired_version,
      waves: waves.map((wave) => this.#line(wave)),
      histogram: operator.histogram,
      events: [...this.#events],
    };
  }

  /** Details are read at the first look and at a thorough one; in between others go on with those before. */
  async #informed(waves: readonly Wave[], thorough: boolean): Promise<void> {
    if (thorough) {
      await this.#reading?.catch(() => undefined);
      return this.#inform(waves, true);
    }
    if (this.#reading !== null || performance.now() < this.#detailsDueAt) return;
    const first = this.#firstLook;
    const reading = this.#inform(waves, false).finally(() => {
      this.#reading = null;
    });
    this.#reading = reading;
    if (first) await reading;
    // Whoever looks next asks again.
    else reading.catch(() => undefined);
  }

  async #inform(waves: readonly Wave[], thorough: boolean): Promise<void> {
    if (thorough || this.#isSmall) await this.#refresh();
    const started = performance.now();
    await this.#readDetails(waves);
    const rest = (performance.now() - started) * DETAIL_SHARE;
    this.#detailsDueAt = performance.now() + (this.#isSmall ? Math.min(rest, SMALL_FLEET_PAUSE) : rest);
  }

  #line(wave: Wave): WaveLine {
    const details = isOpen(wave) ? this.#details.get(wave.id) : undefined;
    const counters = countersOf(wave);
    return {
      id: wave.id,
      title: waveTitle(wave),
      status: wave.status,
      counters,
      failure_rate: wave.failure_rate,
      held: adjusted(details?.held ?? [], counters.pending),
      running: counters.in_progress > 0 ? (details?.running ?? []) : [],
    };
  }

  async #readDetails(waves: readonly Wave[]): Promise<void> {
    const details = waves.filter(isOpen).map(async (wave) => {
      const { pending, in_progress } = countersOf(wave);
      const [held, running] = await Promise.all([
        pending > 0 ? this.#held(wave, pending) : [],
        in_progress > 0 ? this.#running(wave, in_progress) : [],
      ]);
      return [wave.id, { held, running }] as const;
    });
    const [entries] = await Promise.all([Promise.all(details), this.#noteEvents()]);
    this.#details = new Map(entries);
  }

  async #held(wave: Wave, pending: number): Promise<Held[]> {
    const of = (status: string) => this.#api.page(`block-rollout-items/?rollout=${wave.id}&status=${status}&page_size=${SAMPLE}`, item);
    const [waiting, retrying] = await Promise.all([of('pending'), of('retrying')]);
    const sample = [...retrying.results, ...waiting.results].slice(0, SAMPLE);
    const details = await Promise.all(sample.map(({ id }) => this.#api.get(`block-rollout-items/${id}/`, itemDetail)));
    const groups = heldBy(details.map(({ blockers }) => ({ blockers: blockers.map(blockerOf) })));
    const rest = pending - details.length;
    const [most, ...others] = groups;
    return rest <= 0 || most === undefined ? groups : [{ ...most, count: most.count + rest }, ...others];
  }

  async #running(wave: Wave, count: number): Promise<string[]> {
    const path = `block-rollout-items/?rollout=${wave.id}&status=in_progress&page_size=${RUNNING_NAMES}`;
    const { results } = await this.#api.page(path, item);
    const names = await Promise.all(results.map((one) => this.#nameOf(one)));
    return count > names.length ? [...names, `and ${count - names.length} more`] : names;
  }

  async #nameOf({ k8s_cluster, workspace }: Pick<Item, 'k8s_cluster' | 'workspace'>): Promise<string> {
    if (k8s_cluster === null) return workspace?.name ?? 'a workspace';
    const known = this.#names.get(k8s_cluster);
    if (known !== undefined) return known;
    const { name } = await this.#api.get(`kubernetes/clusters/${k8s_cluster}/`, named);
    this.#names.set(k8s_cluster, name);
    return name;
  }

  async #noteEvents(): Promise<void> {
    const { results } = await this.#api.page('action-runs/?page_size=20', actionRun);
    for (const run of [...results].reverse()) {
      const before = this.#seenRuns.get(run.id);
      const state = `${run.status} ${run.phase}`;
      this.#seenRuns.set(run.id, state);
      if (this.#firstLook || before === state || run.status === 'pending') continue;
      if (before?.startsWith(run.status) !== true) this.#events.push(await this.#eventOf(run));
    }
    this.#firstLook = false;
    this.#events.splice(0, Math.max(0, this.#events.length - KEPT_EVENTS));
  }

  async #eventOf(run: Run): Promise<string> {
    const time = new Date(this.#clock.now()).toTimeString().slice(0, 8);
    const what = `${run.action} ${shortName(run.block.name)}${run.rendered_target_version === null ? '' : ` ${run.rendered_target_version}`}`;
    const attempt = run.attempt > 1 ? `, attempt ${run.attempt}` : '';
    return `${time}  ${await this.#nameOf(run)}: ${what}${attempt}: ${runWords(run)}`;
  }
}

/** Reasons are a little older than the counters: the largest group takes up the difference. */
function adjusted(held: readonly Held[], pending: number): Held[] {
  const known = held.reduce((sum, { count }) => sum + count, 0);
  const [largest, ...others] = held;
  if (largest === undefined || known === pending) return [...held];
  const count = largest.count + pending - known;
  return count > 0 ? [{ ...largest, count }, ...others] : adjusted(others, pending);
}

function runWords(run: Run): string {
  if (run.status === 'running') return 'started';
  if (run.status === 'success') return 'done';
  const why = run.status_reason ?? (run.exit_code === null ? null : `exit code ${run.exit_code}`);
  return `${run.status}${why === null ? '' : ` (${why})`}`;
}

export function blockerOf({ code, detail, until }: { code: string; detail: string | null; until: string | null }): Blocker {
  return { code: code as BlockerCode, detail, until: until === null ? null : Date.parse(until) };
}
