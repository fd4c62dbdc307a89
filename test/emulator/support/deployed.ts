import { gzipSync } from 'node:zlib';
import { SystemClock } from '../../../lib/adapters/system/clock.ts';
import type { VirtualFleet } from '../../../local/agents/virtual-fleet.ts';
import { startVirtualFleet } from '../../../local/agents/virtual-fleet.ts';
import { readFleet } from '../../../local/fleet-source.ts';
import { Console } from '../../support/console.ts';
import { Executions } from './executions.ts';
import { run } from './processes.ts';
import { ROOT } from './target.ts';
import { until } from './until.ts';

const value = (name: string): string => {
  const found = process.env[name];
  if (found === undefined || found === '') throw new Error(`${name} is not set; start this with npm run test:emulator.`);
  return found;
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of the API
type Answer = any;

/** A deployment, and a person who works with it from outside. */
export class Deployed {
  readonly base = value('EMULATOR_BASE');
  readonly table = value('EMULATOR_TABLE');
  readonly isAws = value('EMULATOR_TARGET') === 'aws';
  readonly executions = new Executions(value('EMULATOR_WAVE_MACHINE'));
  api = new Console('', '');
  #agents: VirtualFleet | null = null;

  adminKey(...more: string[]): Promise<string> {
    const args = ['scripts/admin-key.ts', '--table', this.table, ...more];
    return run(process.execPath, args, { cwd: ROOT, env: process.env, seconds: 60 });
  }

  signIn(key: string): void {
    this.api = new Console(`${this.base}/api/v1/`, key);
  }

  raw(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.base}${path}`, { headers, signal: AbortSignal.timeout(30_000) });
  }

  /** Sends a fleet file as the CLI does, and follows it. */
  async import(file: string, key: string): Promise<Answer> {
    const answer = await fetch(`${this.base}/api/v1/import/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/yaml', 'content-encoding': 'gzip' },
      body: new Uint8Array(gzipSync(readFleet(file).text)),
    });
    if (answer.status !== 202) throw new Error(`the import answered ${answer.status}: ${await answer.text()}`);
    const { id } = (await answer.json()) as { id: string };
    return until('the end of the import', 60, async () => {
      const state = await this.api.get(`import/${id}/`);
      return state.status === 'completed' && state;
    });
  }

  /** Virtual agents for the clusters of the file, a few calls at a time: each one under way is a process of the emulator. */
  async startAgents(file: string, adminKey: string): Promise<void> {
    const { fleet } = readFleet(file);
    this.#agents = await startVirtualFleet({
      ...{ baseUrl: this.base, adminKey, fleet, clock: new SystemClock(), activity: null, speed: 1, concurrency: 4 },
    });
  }

  async stop(): Promise<void> {
    await this.#agents?.stop();
  }

  /** The wave that brings this version, once it is there; its counters must add up whenever anybody looks. */
  async wave(target_version: string): Promise<Answer | null> {
    const { results } = await this.api.get('block-rollouts/?page_size=200');
    const found = (results as Answer[]).find((w) => w.target_version === target_version);
    if (found === undefined) return null;
    const { total_items, completed_items, in_progress_items, pending_items, failed_items, skipped_items_count } = found;
    const sum = completed_items + in_progress_items + pending_items + failed_items + skipped_items_count;
    if (sum !== total_items) throw new Error(`the counters do not add up: ${JSON.stringify(found)}`);
    return found;
  }

  waveThat(target_version: string, what: string, holds: (wave: Answer) => boolean, seconds = 90): Promise<Answer> {
    return until(`wave ${target_version} ${what}`, seconds, async () => {
      const wave = await this.wave(target_version);
      return wave !== null && holds(wave) && wave;
    });
  }

  async items(wave: string): Promise<Answer[]> {
    return (await this.api.get(`block-rollout-items/?rollout=${wave}&page_size=200`)).results;
  }
}
