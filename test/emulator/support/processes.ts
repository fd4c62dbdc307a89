import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface Ended {
  /** null = it took too long. */
  readonly code: number | null;
  readonly stdout: string;
  /** Both streams, as they came. */
  readonly output: string;
}

interface Options {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** A shell that waits for the end of its input: when this process ends, however that ends, the pipe closes and the shell ends its group. */
const TIED_TO_PARENT = 'exec 3<&0; "$@" </dev/null 3<&- & child=$!; { read -r _ <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&-; wait $child';

/** Groups of processes that run now, by the id of their first one. */
const open = new Set<number>();

/** The whole group, by its id: what a command started ends with it. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // It is gone.
  }
}

for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    for (const pid of open) signal(pid, 'SIGKILL');
    process.exit(130);
  });
process.once('exit', () => {
  for (const pid of open) signal(pid, 'SIGKILL');
});

function start(
  command: string,
  args: readonly string[],
  { env, cwd }: Options,
  out: 'pipe' | 'inherit' | number,
): { child: ChildProcess; pid: number } {
  const child = spawn('/bin/sh', ['-c', TIED_TO_PARENT, 'sh', command, ...args], { cwd, env, detached: true, stdio: ['pipe', out, out] });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} cannot be started.`);
  open.add(pid);
  return { child, pid };
}

/** What a command wrote to stdout. It is ended after so many seconds. Throws, with all that it said, unless it ended well. */
export async function run(command: string, args: readonly string[], options: Options & { readonly seconds: number }): Promise<string> {
  const { code, stdout, output } = await attempt(command, args, options);
  if (code === 0) return stdout;
  const how = code === null ? `did not end within ${options.seconds} s` : `ended with ${code}`;
  throw new Error(`${command} ${args.join(' ')} ${how}:\n${output.slice(-6_000)}`);
}

async function attempt(command: string, args: readonly string[], options: Options & { readonly seconds: number }): Promise<Ended> {
  const { child, pid } = start(command, args, options, 'pipe');
  const stdout: Buffer[] = [];
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    signal(pid, 'SIGKILL');
  }, options.seconds * 1_000);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: late ? null : (code ?? 1), stdout: String(Buffer.concat(stdout)), output: String(Buffer.concat(chunks)) };
  } finally {
    clearTimeout(timer);
    signal(pid, 'SIGKILL');
    open.delete(pid);
  }
}

/** Shows what a command says while it runs; its exit code. */
export async function show(command: string, args: readonly string[], options: Options): Promise<number> {
  const { child, pid } = start(command, args, options, 'inherit');
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? 1;
  } finally {
    signal(pid, 'SIGKILL');
    open.delete(pid);
  }
}

export interface Service {
  /** True as long as it runs. */
  alive(): boolean;
  stop(): Promise<void>;
}

/** Something that runs until it is stopped; what it says goes into a file. */
export function serve(command: string, args: readonly string[], options: Options & { readonly log: string }): Service {
  const { child, pid } = start(command, args, options, openSync(options.log, 'w'));
  const ended = once(child, 'close');
  return {
    alive: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      signal(pid, 'SIGTERM');
      await Promise.race([ended, sleep(5_000, undefined, { ref: false })]);
      signal(pid, 'SIGKILL');
      open.delete(pid);
    },
  };
}
