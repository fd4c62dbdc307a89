import type { agentApi } from '../../lib/app/agents/agent-api.ts';
import type { K8sCluster } from '../../lib/domain/shared/fleet.ts';
import { OPERATOR_APP } from '../../lib/domain/shared/fleet.ts';
import { SECOND } from '../../lib/domain/shared/time.ts';

/** What a host needs of the world around it. */
interface HostWorld {
  readonly agents: ReturnType<typeof agentApi>;
  now(): number;
  settle(): Promise<void>;
  token(workspace: string): string;
  patient<T>(call: () => Promise<T>): Promise<T>;
}

/** How the agent of a cluster behaves; a test changes it while it runs. */
export interface Behaviour {
  silent: boolean;
  /** How long an attempt takes; null = it accepts the run and never reports. */
  seconds: number | null;
  /** Exit code of attempt n (1, 2, …). */
  exit: (attempt: number) => number;
  /** What it reports as installed after success; 'target' = what was asked for. */
  reports: 'target' | 'unchanged';
}

interface Work {
  readonly run: string;
  readonly attempt: number;
  readonly target: string | null;
  readonly until: number | null;
}

/** One cluster with its operator agent, played by hand. */
export class Host {
  readonly world: HostWorld;
  readonly id: string;
  readonly name: string;
  readonly organization: string;
  readonly workspace: string;
  readonly uid: string;
  installed: string | null;
  /** Every attempt that was really executed here. */
  readonly executed: string[] = [];
  readonly behaviour: Behaviour = { silent: false, seconds: 1, exit: () => 0, reports: 'target' };
  readonly work = new Map<string, Work>();

  constructor(world: HostWorld, cluster: K8sCluster, installed: string | null) {
    this.world = world;
    this.id = cluster.id;
    this.name = cluster.name;
    this.organization = cluster.organization;
    this.workspace = cluster.workspace;
    this.uid = `uid-${cluster.id}`;
    this.installed = installed;
  }

  /** Reports, takes what waits, and finishes what has lasted long enough. */
  async turn(): Promise<void> {
    if (this.behaviour.silent) return;
    await this.finishDue();
    const answer = await this.report();
    for (const run of answer.action_runs) if (!this.work.has(run.id)) await this.take(run.id, run.attempt);
    for (const id of answer.cancel_action_runs) await this.stop(id);
    await this.finishDue();
  }

  report() {
    const apps = [{ name: OPERATOR_APP, installed_version: this.installed, state: 'OK' as const }];
    return this.world.patient(() =>
      this.world.agents.recordHeartbeat({
        token: this.world.token(this.workspace),
        report: { kind: 'operator', reported_agent_id: 'operator', cluster: { uid: this.uid, name: this.name }, apps },
      }),
    );
  }

  async take(run: string, attempt: number): Promise<void> {
    const claimed = await this.world.patient(() => this.world.agents.claimRun(this.call(run)));
    if (claimed.run.phase !== 'executing') return;
    const { seconds } = this.behaviour;
    this.executed.push(run);
    this.work.set(run, {
      run,
      attempt,
      target: claimed.run.rendered_target_version,
      until: seconds === null ? null : this.world.now() + seconds * SECOND,
    });
  }

  async finishDue(): Promise<void> {
    for (const work of this.work.values()) if (work.until !== null && work.until <= this.world.now()) await this.finish(work);
  }

  async finish(work: Work): Promise<void> {
    const exit_code = this.behaviour.exit(work.attempt);
    if (exit_code === 0 && this.behaviour.reports === 'target' && work.target !== null) this.installed = work.target;
    await this.world.patient(() =>
      this.world.agents.finishRun({ ...this.call(work.run), ...NO_LOGS, exit_code, cancelled: false, finished_at: null }),
    );
    this.work.delete(work.run);
    if (exit_code === 0) await this.report();
  }

  async stop(run: string): Promise<void> {
    await this.world.patient(() =>
      this.world.agents.finishRun({ ...this.call(run), ...NO_LOGS, exit_code: null, cancelled: true, finished_at: null }),
    );
    this.work.delete(run);
  }

  call(run: string) {
    return { token: this.world.token(this.workspace), cluster_uid: this.uid, agent_id: 'operator', run };
  }
}

const NO_LOGS = { stdout: null, stderr: null };
