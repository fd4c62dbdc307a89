import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LONGEST_START = 60_000;
/** What `npm start` gives to Node. */
const [, ...START] = manifest.scripts.start.split(' ');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm start` as a process of its own, without npm: a signal reaches exactly this process. */
export class LocalProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  #onText: () => void = () => undefined;

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, [...START, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#onText();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#child = child;
    this.#exit = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout: this.#stdout, stderr: this.#stderr }));
  }

  /** Closes the pipe that its words go to. */
  async deafen(): Promise<Ended> {
    this.#child.stdout?.destroy();
    return this.ended();
  }

  /** Waits for the words that it prints once its API answers; the milliseconds since this call. False when it ended before. */
  async running(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = (): void => {
      if (this.#stdout.includes('Block Rollout is running.')) resolve(true);
    };
    this.#onText = look;
    look();
    void this.#exit.then(() => resolve(false));
    const timer = setTimeout(() => resolve(false), LONGEST_START);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  get baseUrl(): string {
    return /API\s+(\S+)\/api\/v1\//.exec(this.#stdout)?.[1] ?? '';
  }

  signal(signal: NodeJS.Signals): Promise<Ended> {
    this.#child.kill(signal);
    return this.#exit;
  }

  ended(): Promise<Ended> {
    return this.#exit;
  }
}

/** Command lines of all processes that name this path. */
function processesNaming(path: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(path));
}

/** What still runs with this data folder, once the processes that it belonged to have had a moment to end. */
export async function leftRunning(folder: string): Promise<string[]> {
  for (let round = 0; round < 100 && processesNaming(folder).length > 0; round++) await sleep(50);
  return processesNaming(folder);
}
