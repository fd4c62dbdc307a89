import { setTimeout as pause } from 'node:timers/promises';
import type { AgentReport } from '../lib/contracts/api/agent.ts';
import { type AgentClient, backOff, type ClaimedRun, isToBeExecuted, Refused } from './agent-client.ts';
import { Job, type JobSpec } from './agent-job.ts';

export interface AgentOptions {
  readonly kind: 'operator' | 'agent';
  readonly reported_agent_id: string;
  readonly version: string;
  readonly cluster: { readonly uid: string; readonly name?: string } | null;
  /** All that is installed now, asked before each report; null = this agent does not know. */
  readonly apps: () => Promise<NonNullable<AgentReport['apps']> | null>;
  /** By action; `*` for every other. `{block}`, `{action}` and `{version}` are filled in. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly say: (line: string) => void;
}

export const DEFAULT_COMMAND = ['polycrate', 'run', '{block}', '{action}'];
const PROGRESS_MS = 10_000;

/**
 * The reference agent (SPEC §6, §7, §10): reports, claims what waits for it, runs a command per action, streams the log tail and reports the
 * result. It keeps what it knows while the service is away, and works again on what it had claimed when it was restarted.
 */
export class ReferenceAgent {
  readonly #client: AgentClient;
  readonly #options: AgentOptions;
  readonly #jobs = new Map<string, { readonly job: Job; readonly over: Promise<void> }>();
  /** Aborted when something was finished: the new state is reported at once. */
  #news = new AbortController();

  constructor(client: AgentClient, options: AgentOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Until the signal; then what runs is stopped. It will be handed out again. */
  async live(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      this.#news = new AbortController();
      let wait: number;
      try {
        wait = await this.#report(signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        wait = backOff(failures, error);
        this.#options.say(`report failed, next try in ${Math.round(wait / 1000)} s: ${words(error)}`);
      }
      await pause(wait, undefined, { signal: AbortSignal.any([signal, this.#news.signal]) }).catch(() => undefined);
    }
    for (const { job } of this.#jobs.values()) job.cancel();
    await Promise.all([...this.#jobs.values()].map(({ job }) => job.done));
  }

  async #report(signal: AbortSignal): Promise<number> {
    const { kind, reported_agent_id, version, cluster } = this.#options;
    const apps = await this.#options.apps();
    const answer = await this.#client.report({
      ...{ kind, reported_agent_id, version, status: 'healthy' },
      ...(apps === null ? {} : { apps }),
      ...(cluster === null ? {} : { cluster }),
      running_action_runs: [...this.#jobs.keys()],
    });
    for (const id of answer.cancel_action_runs) this.#jobs.get(id)?.job.cancel();
    for (const { id } of answer.action_runs) if (!this.#jobs.has(id)) await this.#take(id, signal);
    return answer.next_report_seconds * 1000;
  }

  async #take(id: string, signal: AbortSignal): Promise<void> {
    const run = await this.#client.claim(id);
    if (!isToBeExecuted(run)) return;
    this.#options.say(`${run.action} ${run.block_name} ${run.rendered_target_version ?? ''} (attempt ${run.attempt}) begins`);
    const job = new Job(jobOf(run, this.#options.commands));
    const over = this.#watch(run, job, signal).finally(() => this.#jobs.delete(id));
    this.#jobs.set(id, { job, over });
  }

  async #watch(run: ClaimedRun, job: Job, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    void this.#stream(run.id, job, ended.signal);
    const { exit_code, cancelled } = await job.done;
    ended.abort();
    // Stopped because the agent itself ends: the run stays claimed and is taken up again by the next start.
    if (signal.aborted) return;
    this.#options.say(`${run.action} ${run.block_name}: ${cancelled ? 'stopped on request' : `exit code ${exit_code}`}`);
    const logs = { stdout: job.stdout, stderr: job.stderr };
    await this.#untilAccepted(
      () => this.#client.finish(run.id, cancelled ? { status: 'cancelled', ...logs } : { exit_code, ...logs }),
      signal,
    );
    this.#news.abort();
  }

  /** The log tail while it works; what cannot be sent now is in the next one. */
  async #stream(id: string, job: Job, signal: AbortSignal): Promise<void> {
    let sent = '';
    while (!signal.aborted) {
      await pause(PROGRESS_MS, undefined, { signal }).catch(() => undefined);
      const now = job.stdout + job.stderr;
      if (signal.aborted || now === sent) continue;
      await this.#client.progress(id, { stdout: job.stdout, stderr: job.stderr }).then(
        () => {
          sent = now;
        },
        () => undefined,
      );
    }
  }

  async #untilAccepted(send: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await send();
        return;
      } catch (error) {
        this.#options.say(`result not accepted: ${words(error)}`);
        if (error instanceof Refused && !error.passing) return;
        await pause(backOff(failures, error), undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function jobOf(run: ClaimedRun, commands: AgentOptions['commands']): JobSpec {
  const template = commands[run.action] ?? commands['*'] ?? DEFAULT_COMMAND;
  const values: Readonly<Record<string, string>> = {
    block: run.block_name,
    action: run.action,
    version: run.rendered_target_version ?? '',
  };
  const { BLOCK_ROLLOUT_AGENT_KEY: _key, ...inherited } = process.env;
  return {
    command: template.map((part) => part.replaceAll(/\{(block|action|version)\}/g, (_all, name: string) => values[name] ?? '')),
    env: {
      ...(inherited as Record<string, string>),
      BLOCK_ROLLOUT_RUN: run.id,
      BLOCK_ROLLOUT_BLOCK: run.block_name,
      BLOCK_ROLLOUT_ACTION: run.action,
      BLOCK_ROLLOUT_ATTEMPT: String(run.attempt),
      BLOCK_ROLLOUT_TARGET_VERSION: values['version'] ?? '',
    },
    input: JSON.stringify(run.config),
  };
}
