import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, serve } from './processes.ts';
import { CACHE, type Running, Unavailable } from './target.ts';

const PINNED = ['ministack==1.5.33', 'hypercorn==0.18.0'];
const PORT = 4566;
/** One Node process per call under way, 75 MB each. */
const MOST_CALLS_AT_ONCE = 16;
const AT_LEAST = [3, 10] as const;

/** MiniStack in a virtual environment of its own, on a folder that goes with it. No Docker. */
export async function startMinistack(): Promise<Running> {
  const bin = await environment();
  const folder = join(CACHE, 'run');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  // The emulator's own scripts are CommonJS, and lie below our package.json, which says otherwise.
  writeFileSync(join(folder, 'package.json'), '{}\n');
  const port = await freePort();
  const endpoint = `http://localhost:${port}`;
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TMPDIR: folder,
    S3_DATA_DIR: join(folder, 's3'),
    STATE_DIR: join(folder, 'state'),
    GATEWAY_PORT: String(port),
    BIND_HOST: '127.0.0.1',
    LAMBDA_WARM_TTL_SECONDS: '60',
    LAMBDA_ACCOUNT_CONCURRENCY: String(MOST_CALLS_AT_ONCE),
    ...credentials,
  };
  const log = join(CACHE, 'ministack.log');
  const service = serve(join(bin, 'ministack'), [], { env, cwd: folder, log });
  const stop = async (): Promise<void> => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await answers(`${endpoint}/_ministack/health`)); tries++) {
    if (tries < 300 && service.alive()) await sleep(100);
    else {
      await stop();
      throw new Error(`MiniStack did not come up; see ${log}.`);
    }
  }
  return {
    env: { ...credentials, AWS_ENDPOINT_URL: endpoint, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: 'us-east-1', STAGE: 'local' },
    account: '000000000000',
    // The name in the output does not resolve here; the emulator serves the same under its own address.
    apiBase: (url) => `${endpoint}/_aws/execute-api/${new URL(url).hostname.split('.')[0]}`,
    stop,
  };
}

/** Made once and kept; its folder is named after what is in it. @throws Unavailable when there is no Python for it. */
async function environment(): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const folder = join(CACHE, `venv-${PINNED.join('-').replaceAll('==', '-')}`);
  const ready = join(folder, 'ready');
  const bin = join(folder, 'bin');
  if (existsSync(ready)) return bin;
  const python = await findPython();
  rmSync(folder, { recursive: true, force: true });
  const options = { cwd: CACHE, env: process.env, seconds: 180 };
  await run(python, ['-m', 'venv', folder], options).catch((error: unknown) => {
    throw new Unavailable(`${python} cannot make a virtual environment (Debian: install python3-venv). ${String(error)}`);
  });
  await run(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...PINNED], options);
  writeFileSync(ready, `${PINNED.join('\n')}\n`);
  return bin;
}

async function findPython(): Promise<string> {
  const asks = `import sys; sys.exit(0 if sys.version_info >= (${AT_LEAST.join(', ')}) else 1)`;
  for (const name of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10']) {
    const good = await run(name, ['-c', asks], { cwd: CACHE, env: process.env, seconds: 20 }).catch(() => null);
    if (good !== null) return name;
  }
  throw new Unavailable(`There is no Python ${AT_LEAST.join('.')} or later, which MiniStack needs.`);
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

/** The usual one, or any when somebody else has it. */
async function freePort(): Promise<number> {
  return (await portOf(PORT)) ?? (await portOf(0)) ?? PORT;
}

function portOf(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null));
    });
  });
}
