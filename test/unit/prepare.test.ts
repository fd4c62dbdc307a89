import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/** A project folder with the real script and, as npm, a program that writes down how it was called. */
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'prepare-'));
  mkdirSync(join(project, 'scripts'));
  copyFileSync('scripts/prepare.mjs', join(project, 'scripts/prepare.mjs'));
  writeFileSync(
    join(project, 'npm.cjs'),
    `require('node:fs').writeFileSync('called', process.argv[2]); process.exit(Number(process.env.NPM_STATUS ?? 0));`,
  );
  file('package-lock.json', 1_000);
});

afterEach(() => rmSync(project, { recursive: true }));

function file(path: string, seconds: number): void {
  writeFileSync(join(project, path), '');
  utimesSync(join(project, path), seconds, seconds);
}

function prepare(env: Record<string, string> = {}) {
  const npm = { npm_execpath: join(project, 'npm.cjs'), npm_node_execpath: process.execPath };
  const { status, stderr } = spawnSync(process.execPath, ['scripts/prepare.mjs'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, ...npm, ...env },
  });
  return { status, stderr, called: existsSync(join(project, 'called')) };
}

function installedAt(seconds: number): void {
  mkdirSync(join(project, 'node_modules'));
  file('node_modules/.package-lock.json', seconds);
}

describe('scripts/prepare.mjs', () => {
  test('installs and says why when nothing is installed', () => {
    expect(prepare()).toMatchObject({ status: 0, called: true, stderr: expect.stringContaining('node_modules is missing') });
  });

  test('installs again after an install that did not finish', () => {
    mkdirSync(join(project, 'node_modules'));
    expect(prepare()).toMatchObject({ called: true });
  });

  test('installs when the lock file is newer', () => {
    installedAt(999);
    expect(prepare()).toMatchObject({ status: 0, called: true, stderr: expect.stringContaining('older than package-lock.json') });
  });

  test.each([1_000, 1_001])('does nothing and says nothing when installed at %i s, the lock file being of 1000 s', (seconds) => {
    installedAt(seconds);
    expect(prepare()).toEqual({ status: 0, called: false, stderr: '' });
  });

  test('a failed install stops the command and says what it needs', () => {
    expect(prepare({ NPM_STATUS: '7' })).toMatchObject({ status: 7, stderr: expect.stringContaining('npm ci failed') });
  });
});
