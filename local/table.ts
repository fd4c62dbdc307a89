import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { CreateTableCommand, DynamoDBClient, type DynamoDBClientConfig, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../lib/adapters/dynamodb/table.ts';
import { StartProblem } from './problem.ts';

export interface EmbeddedTable {
  readonly client: DynamoDBClientConfig;
  /** False when it is somebody else's, named by `DYNAMODB_ENDPOINT`. */
  readonly ours: boolean;
  readonly name: string;
  /** Resolves, with the reason, when the table's process ends without having been asked to. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the emulator behind a shell that waits for the end of its input: when this process ends, however that ends, the pipe closes and
 * the shell ends the emulator. A session of its own keeps the terminal's Ctrl-C away from it until we have finished.
 */
const TIED_TO_PARENT =
  'exec 3<&0; "$@" </dev/null 3<&- & table=$!; { read -r _ <&3; kill -9 $table; } >/dev/null 2>&1 & exec 3<&-; wait $table';

/** The table of the embedded runtime: the bundled emulator, in memory or on a file, or whatever `DYNAMODB_ENDPOINT` names. */
export async function startTable(options: {
  readonly file: string | null;
  readonly endpoint?: string | undefined;
  readonly name?: string;
}): Promise<EmbeddedTable> {
  const name = options.name ?? 'block-rollout';
  const emulator = options.endpoint === undefined ? await startEmulator(options.file) : null;
  const client = clientConfig(options.endpoint ?? `http://127.0.0.1:${emulator?.port}`);
  const stop = emulator?.stop ?? (async () => undefined);
  try {
    await createTable(client, name);
  } catch (error) {
    await stop();
    throw error;
  }
  return { client, name, ours: emulator !== null, failed: emulator?.failed ?? new Promise(() => undefined), stop };
}

function clientConfig(endpoint: string): DynamoDBClientConfig {
  return {
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    // The SDK warns on the terminal when calls wait for a connection; here they may.
    requestHandler: { httpAgent: { keepAlive: true, maxSockets: 64 }, socketAcquisitionWarningTimeout: 60_000 },
  };
}

async function createTable(config: DynamoDBClientConfig, name: string): Promise<void> {
  const client = new DynamoDBClient({ ...config, maxAttempts: 3 });
  try {
    await client.send(new CreateTableCommand(tableDefinition(name)));
  } catch (error) {
    if (error instanceof ResourceInUseException) return;
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND')
      throw new StartProblem(`No table answers at ${String(config.endpoint)}. Is DYNAMODB_ENDPOINT right?`);
    throw error;
  } finally {
    client.destroy();
  }
}

interface Emulator {
  readonly port: number;
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

async function startEmulator(file: string | null): Promise<Emulator> {
  const binary = emulatorBinary();
  // Between looking for a free port and taking it, somebody else may have it.
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const started = await launch(
      [binary, '--host', '127.0.0.1', '--port', String(port), ...(file === null ? [] : ['--db-path', file])],
      port,
    );
    if (typeof started !== 'string') return started;
    if (tries === 3) throw new StartProblem(`The embedded table does not start: ${started}`);
  }
}

/**
 * The running emulator, or what it said before it ended. It has one lock around everything it does; with more than one thread, waiting for that
 * lock takes as much of the processor as the work itself (docs/benchmarks.md).
 */
async function launch(command: string[], port: number): Promise<Emulator | string> {
  const env = { ...process.env, TOKIO_WORKER_THREADS: '1' };
  const child = spawn('/bin/sh', ['-c', TIED_TO_PARENT, 'sh', ...command], { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env });
  const exit = once(child, 'exit');
  child.stdin.on('error', () => undefined);
  const said: string[] = [];
  child.stdout.resume();
  const ready = new Promise<true>((resolve) => {
    createInterface(child.stderr).on('line', (line) => {
      if (line.startsWith('Dynoxide listening')) resolve(true);
      said.push(line);
      if (said.length > 20) said.shift();
    });
  });
  const started = await Promise.race([ready, exit.then(() => false as const)]);
  if (!started) return said.join(' ').trim() || 'it ended without a word';
  let stopping = false;
  const failed = exit.then(() =>
    stopping ? new Promise<string>(() => undefined) : `The embedded table ended by itself. ${said.join(' ')}`.trim(),
  );
  const stop = async () => {
    stopping = true;
    child.stdin.end('stop\n');
    await exit;
  };
  return { port, failed, stop };
}

function emulatorBinary(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/dynoxide`);
  } catch {
    throw new StartProblem(
      `There is no embedded table for ${process.platform}-${process.arch} (package ${name}). Set DYNAMODB_ENDPOINT to any DynamoDB-compatible endpoint.`,
    );
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
