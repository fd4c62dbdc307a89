import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Bundles, bundleFunctions, functionNames } from '../../infra/bundle.ts';
import { FUNCTIONS } from '../../infra/functions.ts';

let bundles: Bundles;
beforeAll(async () => {
  bundles = await bundleFunctions();
}, 60_000);

const KB = 1_000;

test('there is one for each function, and infra/functions.ts knows them all', () => {
  expect(Object.keys(bundles).sort()).toEqual(functionNames().sort());
  expect(Object.keys(FUNCTIONS).sort()).toEqual(functionNames().sort());
});

test('each is small enough (DESIGN §9): agent-api 600 KB, others 900 KB', () => {
  for (const [name, { bytes }] of Object.entries(bundles)) {
    console.log(`${name.padEnd(16)} ${String(Math.round(bytes / KB)).padStart(4)} KB`);
    expect(bytes, name).toBeLessThanOrEqual((name === 'agent-api' ? 600 : 900) * KB);
  }
});

test('each loads in Node as it is, without node_modules, and hands out a handler', () => {
  const files = Object.values(bundles).map(({ folder }) => join(folder, 'index.mjs'));
  const script = `for (const file of process.argv.slice(1)) if (typeof (await import(file)).handler !== 'function') throw new Error(file + ' has no handler');`;
  // An empty environment, as on a first deployment: what is missing is said at the first call, not while loading.
  execFileSync(process.execPath, ['--input-type=module', '-e', script, ...files], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
}, 60_000);

test('nobody asks for the classes of Lambda’s errors, which bundles leave out', () => {
  const sources = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts = sources.map((path) => readFileSync(join('lib', path), 'utf8'));
  const imported = texts.flatMap((text) => /import \{([^}]*)\} from '@aws-sdk\/client-lambda'/.exec(text)?.[1]?.split(',') ?? []);
  expect(new Set(imported.map((name) => name.trim()))).toEqual(new Set(['InvokeCommand', 'LambdaClient']));
});
