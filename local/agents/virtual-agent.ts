import { type AgentClient, backOff, type ClaimedRun, isToBeExecuted, Refused, type ReportAnswer } from '../../cli/agent-client.ts';
import type { Clock } from '../../lib/app/ports.ts';
import type { AgentReport } from '../../lib/contracts/api/agent.ts';
import { OPERATOR_APP } from '../../lib/domain/shared/fleet.ts';
import type { Activity } from '../activity.ts';
import { fails, type Place, uidOf, workSeconds } from './behaviour.ts';
import type { Turns } from './turns.ts';

export interface AgentWorld {
  readonly clock: Clock;
  readonly activity: Activity | null;
  readonly turns: Turns;
  readonly seed: number;
  readonly speed: number;
  /** An idle agent waits at least this long between two reports, so that a big fleet's idle polls leave room for work. */
  readonly idleMs: number;
  readonly say: (line: string) => void;
}

interface Work {
  readonly run: ClaimedRun;
  readonly ends_at: number;
  progress_at: number;
}

const PROGRESS_EVERY = 15_000;
/** A refusal that only a person can end is asked about again after so long. */
const REFUSED_PAUSE = 60_000;

/** The cluster: what is installed there outlives its agent. */
export class VirtualCluster {
  readonly place: Place;
  readonly uid: string;
  readonly apps: Map<string, string | null>;

  constructor(place: Place) {
    this.place = place;
    this.uid = uidOf(place.path);
    this.apps = new Map(place.apps);
  }

  appOf(block: string): string {
    return this.place.appOfBlock.get(block) ?? block.split('/').at(-1) ?? block;
  }
}

/** Lives until its signal is aborted; what it was working on is then lost, as with a real process. */
export class VirtualAgent {
  readonly #world: AgentWorld;
  readonly #cluster: VirtualCluster;
  readonly #client: AgentClient;
  readonly #signal: AbortSignal;
  readonly #work = new Map<string, Work>();
  #reportAt: number;
  #failures = 0;
  readonly #connected = Promise.withResolvers<void>();
  /** Resolves when it has reported for the first time, or tried to in vain. */
  readonly connected = this.#connected.promise;

  constructor(world: AgentWorld, cluster: VirtualCluster, client: AgentClient, signal: AbortSignal) {
    this.#world = world;
    this.#cluster = cluster;
    this.#client = client;
    this.#signal = signal;
    this.#reportAt = world.clock.now();
  }

  async live(): Promise<void> {
    const { turns, activity, clock } = this.#world;
    while (!this.#signal.aborted) {
      const end = activity?.begin();
      await turns.run(() => this.#turn());
      end?.();
      this.#connected.resolve();
      const next = Math.min(this.#reportAt, ...[...this.#work.values()].map((work) => work.ends_at));
      try {
        await clock.until(next, this.#signal);
      } catch {
        return;
      }
    }
    this.#connected.resolve();
  }

  async #turn(): Promise<void> {
    if (this.#signal.aborted) return;
    try {
      await this.#finishDue();
      while (this.#reportAt <= this.#now && !this.#signal.aborted) {
        await this.#report();
        if (await this.#finishDue()) this.#reportAt = this.#now;
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      const hopeless = error instanceof Refused && !error.passing;
      if (hopeless && this.#failures === 1) this.#world.say(`${this.#cluster.place.path}: ${error.message}`);
      this.#pause(hopeless ? REFUSED_PAUSE : backOff(this.#failures, error));
    }
  }

  /** Nothing is tried before then, not even what is finished. */
  #pause(ms: number): void {
    const until = this.#now + ms;
    this.#reportAt = until;
    for (const [id, work] of this.#work) if (work.ends_at < until) this.#work.set(id, { ...work, ends_at: until });
  }

  get #now(): number {
    return this.#world.clock.now();
  }

  async #report(): Promise<void> {
    const answer = await this.#client.report(this.#whatToReport());
    const pause = Math.max((answer.next_report_seconds * 1000) / this.#world.speed, this.#world.speed > 1 ? this.#world.idleMs : 0);
    this.#reportAt = this.#now + Math.max(1, Math.round(pause));
    await this.#stopAsked(answer);
    for (const { id } of answer.action_runs) if (!this.#work.has(id)) await this.#claim(id);
    await this.#showProgress();
  }

  #whatToReport(): AgentReport {
    const { place, uid, apps } = this.#cluster;
    const operator = apps.has(OPERATOR_APP);
    const running = [...this.#work.keys()];
    const common = { status: 'healthy' as const, running_action_runs: running };
    if (place.cluster === null) return { ...common, kind: 'agent', reported_agent_id: 'workspace' };
    return {
      ...common,
      kind: operator ? 'operator' : 'agent',
      reported_agent_id: operator ? 'operator' : `installer-${place.cluster}`.slice(0, 253),
      ...(operator && apps.get(OPERATOR_APP) != null ? { version: apps.get(OPERATOR_APP) ?? '' } : {}),
      cluster: { uid, name: place.cluster },
      apps: [...apps].map(([name, installed_version]) => ({ name, installed_version, state: 'OK' as const })),
    };
  }

  async #claim(id: string): Promise<void> {
    const run = await this.#client.claim(id);
    if (!isToBeExecuted(run)) return;
    const { seed, speed } = this.#world;
    const seconds = workSeconds(seed, this.#cluster.place, run.block_name, run.attempt);
    this.#work.set(id, { run, ends_at: this.#now + Math.round((seconds * 1000) / speed), progress_at: this.#now });
  }

  async #stopAsked(answer: ReportAnswer): Promise<void> {
    for (const id of answer.cancel_action_runs) {
      if (!this.#work.has(id)) continue;
      await this.#client.finish(id, { status: 'cancelled', stdout: 'stopped on request\n' });
      this.#work.delete(id);
    }
  }

  async #showProgress(): Promise<void> {
    for (const [id, work] of this.#work) {
      if (this.#now - work.progress_at < PROGRESS_EVERY) continue;
      work.progress_at = this.#now;
      await this.#client.progress(id, { stdout: `${work.run.action} ${work.run.block_name}: still at it\n` });
    }
  }

  /** True when something was finished: the new state is reported at once. */
  async #finishDue(): Promise<boolean> {
    let finished = false;
    for (const [id, { run, ends_at }] of this.#work) {
      if (ends_at > this.#now || this.#signal.aborted) continue;
      const failed = fails(this.#world.seed, this.#cluster.place, run.block_name, run.attempt);
      if (!failed) this.#install(run);
      const target = run.rendered_target_version ?? 'as configured';
      // Both streams: what is left out is read back first, lest an earlier part of it be lost.
      const words = `${run.action} ${run.block_name} ${target}: ${failed ? 'failed' : 'done'}\n`;
      await this.#client.finish(id, failed ? { exit_code: 1, stdout: '', stderr: words } : { exit_code: 0, stdout: words, stderr: '' });
      this.#work.delete(id);
      finished = true;
    }
    if (finished) this.#reportAt = this.#now;
    return finished;
  }

  #install(run: ClaimedRun): void {
    const app = this.#cluster.appOf(run.block_name);
    if (run.action === 'uninstall') this.#cluster.apps.delete(app);
    else if (run.action === 'install' && run.rendered_target_version !== null) this.#cluster.apps.set(app, run.rendered_target_version);
  }
}
