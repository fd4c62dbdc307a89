import { setMaxListeners } from 'node:events';
import type { z } from 'zod';
import { AgentClient, backOff, Connections, isToBeExecuted, Refused, type ReportAnswer } from '../../cli/agent-client.ts';
import type { Clock } from '../../lib/app/ports.ts';
import type { AgentReport } from '../../lib/contracts/api/agent.ts';
import type { FleetFile } from '../../lib/contracts/fleet.ts';
import { agentKeyMade } from '../../lib/contracts/api/keys.ts';
import { workspace as workspaceSchema } from '../../lib/contracts/api/organizations.ts';
import type { Activity } from '../activity.ts';
import { ApiClient } from '../api-client.ts';
import { fails, type Place, placesOf, uidOf, workSeconds } from './behaviour.ts';
import { Gate } from './gate.ts';

export interface VirtualFleetOptions {
  readonly baseUrl: string;
  readonly adminKey: string;
  readonly fleet: FleetFile;
  readonly clock: Clock;
  readonly activity: Activity;
  /** Divides the time that work takes and the time between two reports; the product's own rules keep their times. */
  readonly speed: number;
  /** Requests under way at once: with more to do than that, the fleet goes as fast as the service. */
  readonly concurrency?: number;
}

export interface VirtualFleet {
  stop(): Promise<void>;
  /** As a node that loses its power: what it was doing is forgotten, it reports nothing. */
  kill(path: string): void;
  restart(path: string): void;
}

const OPERATOR = 'polycrate-operator';
const NO_FASTER_THAN_MS = 20;

/** Agents for every cluster of a fleet file, speaking HTTP like real ones (SPEC §13 simulation). */
export async function startVirtualFleet(options: VirtualFleetOptions): Promise<VirtualFleet> {
  const { fleet, baseUrl, concurrency = 32 } = options;
  const connections = new Connections(baseUrl, concurrency);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const gate = new Gate(concurrency);
  const places = placesOf(fleet).filter((place) => !place.behaviour.silent);
  const keys = await agentKeys(new ApiClient(baseUrl, options.adminKey), places);
  const common = { ...options, connections, gate, seed: fleet.simulation?.seed ?? 1, signal: stop.signal };
  const agents = new Map<string, VirtualAgent>();
  const hosts = new Map<string, VirtualAgent>();
  const running: Promise<void>[] = [];
  const start = (agent: VirtualAgent): void => void running.push(agent.run());
  for (const place of places) {
    const key = keys.get(`${place.organization}/${place.workspace}`) ?? '';
    const agent = new VirtualAgent(common, place, key, (cluster) => hosts.get(cluster)?.appear());
    agents.set(place.path, agent);
    if (place.cluster !== null) hosts.set(place.path, agent);
    if (place.cluster === null || place.apps.has(OPERATOR)) start(agent);
    else agent.waitToAppear(() => start(agent));
  }
  for (const place of helpers(places)) start(new VirtualAgent(common, place, keys.get(`${place.organization}/${place.workspace}`) ?? '', (name) => hosts.get(`${place.path}/${name}`)?.appear()));
  return {
    stop: async () => {
      stop.abort();
      await Promise.all(running);
      connections.close();
    },
    kill: (path) => agents.get(path)?.kill(),
    restart: (path) => agents.get(path)?.revive(),
  };
}

/** Where a cluster has no operator yet, an agent of its workspace does the first install (SPEC §7). */
function helpers(places: readonly Place[]): Place[] {
  const bare = places.filter((p) => p.cluster !== null && !p.apps.has(OPERATOR));
  const covered = new Set(places.filter((p) => p.cluster === null).map((p) => p.path));
  const byWorkspace = new Map(bare.map((p) => [`${p.organization}/${p.workspace}`, p]));
  return [...byWorkspace].filter(([path]) => !covered.has(path)).map(([path, p]) => ({ ...p, path, cluster: null, apps: new Map(), appOfBlock: new Map() }));
}

/** One key per workspace, made anew at each start: only the first answer has it. */
async function agentKeys(api: ApiClient, places: readonly Place[]): Promise<Map<string, string>> {
  const wanted = new Set(places.map((p) => `${p.organization}/${p.workspace}`));
  const keys = new Map<string, string>();
  const found: z.infer<typeof workspaceSchema>[] = [];
  for await (const row of api.all('workspaces/?page_size=200', workspaceSchema)) found.push(row);
  for (const { id, name, organization } of found) {
    const path = `${organization?.name ?? ''}/${name}`;
    if (!wanted.has(path)) continue;
    const made = await api.post('agent-keys/', agentKeyMade, { name: 'virtual agents', workspace: id });
    keys.set(path, made.key ?? '');
  }
  return keys;
}

interface Common extends VirtualFleetOptions {
  readonly connections: Connections;
  readonly gate: Gate;
  readonly seed: number;
  readonly signal: AbortSignal;
}

interface Job {
  readonly run: string;
  readonly block: string;
  readonly attempt: number;
}

class VirtualAgent {
  readonly #common: Common;
  readonly #place: Place;
  readonly #client: AgentClient;
  readonly #apps: Map<string, string | null>;
  /** Told when a run for another cluster has installed something there. */
  readonly #installedElsewhere: (cluster: string) => void;
  readonly #jobs = new Map<string, Job>();
  readonly #finished = new Set<string>();
  #due = 0;
  #dead = false;
  #appear: (() => void) | null = null;
  #nudge = new AbortController();

  constructor(common: Common, place: Place, key: string, installedElsewhere: (cluster: string) => void) {
    this.#common = common;
    this.#place = place;
    this.#apps = new Map(place.apps);
    this.#installedElsewhere = installedElsewhere;
    this.#client = new AgentClient(common.connections, key, place.cluster === null ? null : uidOf(place.path));
  }

  /** There is no operator here until somebody installs it. */
  waitToAppear(start: () => void): void {
    this.#appear = start;
  }

  appear(): void {
    const start = this.#appear;
    this.#appear = null;
    start?.();
  }

  kill(): void {
    this.#dead = true;
    this.#jobs.clear();
    this.#nudge.abort();
  }

  revive(): void {
    this.#dead = false;
    this.#hurry();
  }

  /** Reports for ever; each turn costs a place at the gate, so that the whole fleet has only so many requests under way. */
  async run(): Promise<void> {
    const { signal, gate, activity, clock } = this.#common;
    for (let failures = 0; !signal.aborted; ) {
      if (!this.#dead) {
        try {
          await activity.run(() => gate.within(() => this.#turn()));
          failures = 0;
        } catch (error) {
          failures += 1;
          this.#due = clock.now() + backOff(failures, error);
          if (error instanceof Refused && !error.passing && error.status !== 404) this.#due = clock.now() + 60_000;
        }
      } else this.#due = clock.now() + 60_000;
      await this.#untilDue();
    }
  }

  async #untilDue(): Promise<void> {
    const { clock, signal } = this.#common;
    this.#nudge = new AbortController();
    await clock.until(this.#due, AbortSignal.any([signal, this.#nudge.signal])).catch(() => undefined);
  }

  #hurry(): void {
    this.#due = 0;
    this.#nudge.abort();
  }

  async #turn(): Promise<void> {
    const answer = await this.#client.report(this.#report());
    this.#due = this.#nextReport(answer);
    for (const id of answer.cancel_action_runs) await this.#stop(id);
    for (const { id, block, attempt } of answer.action_runs) if (!this.#jobs.has(id) && !this.#finished.has(id)) await this.#take({ run: id, block, attempt });
  }

  #nextReport(answer: ReportAnswer): number {
    const { clock, speed } = this.#common;
    return clock.now() + Math.max(NO_FASTER_THAN_MS, (answer.next_report_seconds * 1000) / speed);
  }

  #report(): AgentReport {
    const { path, cluster } = this.#place;
    const apps = [...this.#apps].map(([name, installed_version]) => ({ name, installed_version, state: 'OK' as const }));
    return cluster === null
      ? { kind: 'agent', reported_agent_id: `virtual ${path}`.slice(0, 253), status: 'healthy', version: '1.0.0' }
      : { kind: 'operator', reported_agent_id: 'operator', status: 'healthy', version: this.#apps.get(OPERATOR) ?? 'unknown', cluster: { uid: uidOf(path), name: cluster }, apps };
  }

  /** Claims, and works for as long as the fleet file says. A run that was claimed before a restart is claimed again and done again. */
  async #take(job: Job): Promise<void> {
    const claimed = await this.#client.claim(job.run);
    if (!isToBeExecuted(claimed)) return;
    const seconds = workSeconds(this.#common.seed, this.#place, job.block, job.attempt) / this.#common.speed;
    this.#jobs.set(job.run, job);
    if (seconds === 0) return this.#finish(job, claimed);
    const { clock, signal, activity, gate } = this.#common;
    void clock
      .until(clock.now() + seconds * 1000, signal)
      .then(() => (this.#jobs.has(job.run) ? activity.run(() => gate.within(() => this.#finish(job, claimed))) : undefined))
      .catch(() => this.#jobs.delete(job.run));
  }

  async #finish(job: Job, claimed: { readonly rendered_target_version: string | null; readonly action: string; readonly k8s_cluster_name?: string | null }): Promise<void> {
    const failed = fails(this.#common.seed, this.#place, job.block, job.attempt);
    const stdout = failed ? `${claimed.action} ${job.block}: failed, as the fleet file says\n` : `${claimed.action} ${job.block}: done\n`;
    await this.#client.finish(job.run, { exit_code: failed ? 1 : 0, stdout });
    this.#jobs.delete(job.run);
    this.#remember(job.run);
    if (failed) return;
    this.#installed(job.block, claimed);
    this.#hurry();
  }

  #installed(block: string, { rendered_target_version: version, action, k8s_cluster_name: cluster }: { readonly rendered_target_version: string | null; readonly action: string; readonly k8s_cluster_name?: string | null }): void {
    const app = this.#place.appOfBlock.get(block) ?? block.split('/').at(-1) ?? block;
    if (this.#place.cluster === null) {
      if (cluster != null) this.#installedElsewhere(cluster);
    } else if (action === 'uninstall') this.#apps.set(app, null);
    else if (action === 'install' && version !== null) this.#apps.set(app, version);
  }

  async #stop(run: string): Promise<void> {
    this.#jobs.delete(run);
    this.#remember(run);
    await this.#client.finish(run, { status: 'cancelled' });
  }

  #remember(run: string): void {
    if (this.#finished.size > 1000) this.#finished.clear();
    this.#finished.add(run);
  }
}
