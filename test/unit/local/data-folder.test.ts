import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataFolder } from '../../../local/data-folder.ts';
import { StartProblem } from '../../../local/problem.ts';

let base: string;
const folder = () => join(base, 'data');
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'block-rollout-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function problem(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof StartProblem) return error.message;
    throw error;
  }
  return 'no problem';
}

test('a new folder is made, marked with its format, and empty until a table is in it', () => {
  const first = openDataFolder(folder());
  expect(first.empty).toBe(true);
  expect(JSON.parse(readFileSync(join(folder(), 'format.json'), 'utf8'))).toEqual({ product: 'block-rollout', format: 2 });
  writeFileSync(first.tableFile, 'rows');
  first.close();
  const second = openDataFolder(folder());
  expect(second.empty).toBe(false);
  second.close();
});

test('a folder in use is refused, by this process or another, and free again once that one is gone, kill -9 included', async () => {
  const mine = openDataFolder(folder());
  expect(problem(() => openDataFolder(folder()))).toMatch(/Another process is using the data in .*data\. Stop it first/);
  mine.close();
  const module = new URL('../../../local/data-folder.ts', import.meta.url).href;
  const holder = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `globalThis.held = (await import(${JSON.stringify(module)})).openDataFolder(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`,
      folder(),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const gone = once(holder, 'exit');
  try {
    await once(holder.stdout, 'data');
    expect(problem(() => openDataFolder(folder()))).toContain('Another process');
  } finally {
    holder.kill('SIGKILL');
  }
  await gone;
  openDataFolder(folder()).close();
});

test.each([
  [3, 'a newer'],
  [1, 'an older'],
])('data of format %i was written by %s version: refused, nothing touched', (format, whose) => {
  mkdirSync(folder());
  writeFileSync(join(folder(), 'format.json'), JSON.stringify({ format }));
  writeFileSync(join(folder(), 'table.db'), 'rows');
  for (const fresh of [false, true]) expect(problem(() => openDataFolder(folder(), { fresh }))).toContain(`written by ${whose} version`);
  expect(readdirSync(folder()).sort()).toEqual(['format.json', 'table.db']);
  expect(readFileSync(join(folder(), 'table.db'), 'utf8')).toBe('rows');
});

test.each(['not json', '{}', '{"format": "1"}', '[]', ''])('a format file that says %j is refused', (text) => {
  mkdirSync(folder());
  writeFileSync(join(folder(), 'format.json'), text);
  expect(problem(() => openDataFolder(folder()))).toMatch(/format\.json cannot be read/);
});

test("somebody else's folder is refused, with --fresh too, and nothing in it is touched", () => {
  mkdirSync(folder());
  writeFileSync(join(folder(), 'thesis.tex'), 'years of work');
  for (const fresh of [false, true])
    expect(problem(() => openDataFolder(folder(), { fresh }))).toContain('is not a data folder of Block Rollout');
  expect(readdirSync(folder())).toEqual(['thesis.tex']);
});

test('fresh forgets what earlier runs kept', () => {
  const first = openDataFolder(folder());
  writeFileSync(first.tableFile, 'rows');
  writeFileSync(join(folder(), 'admin-key'), 'key');
  first.close();
  const second = openDataFolder(folder(), { fresh: true });
  expect(second.empty).toBe(true);
  expect(existsSync(join(folder(), 'admin-key'))).toBe(false);
  expect(existsSync(join(folder(), 'format.json'))).toBe(true);
  second.close();
});
