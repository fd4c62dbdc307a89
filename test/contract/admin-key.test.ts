import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemKeyCrypto } from '../../lib/adapters/system/key-crypto.ts';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { Authenticator } from '../../lib/app/keys/authenticate.ts';
import { type Embedded, embedded } from '../support/embedded.ts';

/** `npm run admin-key` as a person runs it, on a table somewhere else. */
let table: Embedded;
beforeAll(async () => {
  table = await embedded();
});
afterAll(() => table.stop());

const SCRIPT = fileURLToPath(new URL('../../scripts/admin-key.ts', import.meta.url));

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'local' };
  const env = { PATH: process.env['PATH'], AWS_ENDPOINT_URL: String(table.client.endpoint), ...credentials };
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [SCRIPT, ...args], { env })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const callerWith = (key: string) =>
  new Authenticator({ clock: table.clock, objects: table.objects, crypto: systemKeyCrypto, log }).authenticate(`Bearer ${key}`);

test('the first key is printed alone, opens everything, and the seeded configs are there; a second needs --force', async () => {
  const first = await run('--table', table.name, '--name', 'first of all');
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^brk_[0-9a-f]{32}_[0-9A-Za-z]{38}\n$/) });
  expect(await callerWith(first.stdout.trim())).toMatchObject({ role: 'platform_admin', access: 'read_write', name: 'first of all' });
  expect(await table.objects.get('block_rollout_config', operatorConfigId(table.ids))).toMatchObject({ name: 'operator' });

  const second = await run('--table', table.name);
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toMatch(/There is an administrator's key already: "first of all" \(brk_.*…\)\. Make more with .* --force/);

  const forced = await run('--table', table.name, '--force');
  expect(await callerWith(forced.stdout.trim())).toMatchObject({ name: 'administrator' });
});

test('a table that is not there is named, with what to do', async () => {
  expect(await run('--table', 'nowhere')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('There is no table nowhere'),
  });
});
