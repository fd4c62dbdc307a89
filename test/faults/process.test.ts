import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LocalProcess, leftRunning } from '../support/local-process.ts';

let folder: string;
let data: string;
const started: LocalProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'block-rollout-process-'));
  data = join(folder, 'data');
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.signal('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

function start(...args: string[]): LocalProcess {
  const process_ = new LocalProcess(['--data', data, ...args]);
  started.push(process_);
  return process_;
}

async function running(...args: string[]): Promise<LocalProcess> {
  const one = start('--port', '0', ...args);
  expect(await one.running()).toBe(true);
  return one;
}

const organizations = async (one: LocalProcess): Promise<number> => {
  const key = readFileSync(join(data, 'admin-key'), 'utf8').trim();
  const answer = await fetch(`${one.baseUrl}/api/v1/organizations/`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { count: number }).count;
};

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s stops cleanly: exit code 0, a word, and nothing left running', async (signal) => {
  const one = await running();
  const { code, stdout, stderr } = await one.signal(signal);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('Stopping; press Ctrl-C again to end at once.');
  expect(await leftRunning(data)).toEqual([]);
});

test('it stops cleanly when nobody reads any more what it says', async () => {
  const one = start('--port', '0');
  expect(await one.running()).toBe(true);
  expect(await one.deafen()).toMatchObject({ code: 0, stderr: '' });
  expect(await leftRunning(data)).toEqual([]);
});

test('Ctrl-C ends a run with --exit-when-done with 130, since it is not done', async () => {
  const one = await running('--exit-when-done');
  expect(await one.signal('SIGINT')).toMatchObject({ code: 130, stderr: '' });
});

test('kill -9 leaves no table behind', async () => {
  const one = await running();
  await one.signal('SIGKILL');
  expect(await leftRunning(data)).toEqual([]);
});

test('a process that has said that it runs, and is killed at once, has left word of the fleet that it was told', async () => {
  const file = join(folder, 'mine.yaml');
  writeFileSync(file, 'apiVersion: block-rollout/v1\norganizations: [{name: mine}]\n');
  const one = await running('--fleet', file, '--no-agents');
  await one.signal('SIGKILL');
  const word = ['importing.yaml', 'fleet.yaml'].map((name) => join(data, name)).find((name) => existsSync(name));
  expect(readFileSync(word ?? '', 'utf8')).toContain('name: mine');
});

test('what only the API can refuse names the line of the file; the fleet is not tried again', async () => {
  const file = join(folder, 'mine.yaml');
  const lines = [
    'apiVersion: block-rollout/v1',
    'organizations: [{name: mine, workspaces: [{name: prod, clusters: [{name: c1}]}]}]',
    'rollout_configs:',
    '  - name: wrong',
    '    block_name: ayedo/k8s/ingress',
    '    target_version: "{{ nobody.knows }}"',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { code, stderr } = await start('--port', '0', '--fleet', file).ended();
  expect(code).toBe(2);
  expect(stderr).toContain(`${file}: rollout_configs[0].target_version: line 6, column 21`);
  expect(stderr).toContain('Nothing was imported');
  expect(existsSync(join(data, 'importing.yaml'))).toBe(false);
  const settings = join(folder, 'settings.yaml');
  writeFileSync(settings, 'apiVersion: block-rollout/v1\nsystem_config: {RETENTION_DAYS: 30}\n');
  const after = await running('--fleet', settings);
  expect(await organizations(after)).toBe(0);
  await after.signal('SIGINT');
});

test('a second process on the same data and an occupied port are refused with 2, and the first goes on; --fresh forgets', async () => {
  const first = await running();
  const second = await start('--port', '0').ended();
  expect(second).toMatchObject({ code: 2, stdout: '' });
  expect(second.stderr).toBe(
    `Another process is using the data in ${data}. Stop it first, or name another folder with --data, or start with --memory.\n`,
  );
  const port = new URL(first.baseUrl).port;
  const third = await new LocalProcess(['--data', join(folder, 'other'), '--port', port]).ended();
  expect(third.code).toBe(2);
  expect(third.stderr).toContain(`Port ${port}`);
  expect(await leftRunning(join(folder, 'other'))).toEqual([]);
  expect(await organizations(first)).toBeGreaterThanOrEqual(0);
  await first.signal('SIGINT');

  writeFileSync(join(data, 'left-by-hand'), '');
  const key = readFileSync(join(data, 'admin-key'), 'utf8');
  const fresh = await running('--fresh', '--no-agents');
  expect(readFileSync(join(data, 'admin-key'), 'utf8')).not.toBe(key);
  expect(() => statSync(join(data, 'left-by-hand'))).toThrow('ENOENT');
  await fresh.signal('SIGINT');
});

test.each([
  [{ product: 'block-rollout', format: 99 }, 'a newer version (format 99'],
  [{ product: 'block-rollout', format: 0 }, 'an older version (format 0'],
  [{ product: 'something else' }, 'cannot be read'],
])('data of another version is refused with 2 and left as it is: %j', async (content, words) => {
  mkdirSync(data);
  const file = join(data, 'format.json');
  writeFileSync(file, JSON.stringify(content));
  const { code, stderr } = await start('--port', '0', '--fresh').ended();
  expect(code).toBe(2);
  expect(stderr).toContain(words);
  expect(stderr).toContain('Nothing was changed.');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(content);
});

test('a data folder that cannot be is refused with 2', async () => {
  writeFileSync(join(folder, 'file'), '');
  for (const place of ['file', 'file/inside']) {
    const { code, stderr } = await new LocalProcess(['--data', join(folder, place), '--port', '0']).ended();
    expect([code, stderr]).toEqual([
      2,
      `${join(folder, place)} cannot be a data folder (ENOTDIR). Name another with --data, or start with --memory.\n`,
    ]);
  }
});

test('a folder that is no data folder is refused with 2', async () => {
  mkdirSync(data);
  writeFileSync(join(data, 'holiday.jpg'), '');
  const { code, stderr } = await start('--port', '0').ended();
  expect([code, stderr]).toEqual([
    2,
    `${data} holds other files and is not a data folder of Block Rollout. Name another with --data, or an empty one.\n`,
  ]);
});
