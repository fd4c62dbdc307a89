import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Of each stream so much is kept: as much as the service keeps (64 KiB). */
const TAIL = 64 * 1024;
/** Between the friendly and the final request to stop. */
const GRACE_MS = 10_000;

export interface JobSpec {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Handed over on standard input, so that no secret is on disk or in a process list. */
  readonly input: string;
}

export interface JobResult {
  readonly exit_code: number;
  readonly cancelled: boolean;
}

/** One command at work, in a process group of its own, so that stopping it stops what it started. */
export class Job {
  readonly done: Promise<JobResult>;
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  #cancelled = false;
  #kill: NodeJS.Timeout | null = null;

  constructor({ command, env, input }: JobSpec) {
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout = (this.stdout + text).slice(-TAIL);
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr = (this.stderr + text).slice(-TAIL);
    });
    // A command that does not read its input is no fault.
    this.#child.stdin?.on('error', () => undefined).end(input);
    this.done = this.#result(program);
  }

  /** SIGTERM, then SIGKILL when it has not ended after ten seconds. */
  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#signal('SIGTERM');
    this.#kill = setTimeout(() => this.#signal('SIGKILL'), GRACE_MS);
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }

  #result(program: string): Promise<JobResult> {
    return new Promise((resolve) => {
      const end = (exit_code: number) => {
        if (this.#kill !== null) clearTimeout(this.#kill);
        resolve({ exit_code, cancelled: this.#cancelled });
      };
      this.#child.on('error', (error) => {
        this.stderr += `${program} could not be started: ${error.message}\n`;
        end(127);
      });
      this.#child.on('close', (code, signal) => end(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  }
}
