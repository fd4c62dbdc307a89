// Installs the dependencies when they are missing or older than the lock file, so that `npm start` and `npm test` work on a fresh clone.
// Runs before anything is installed: Node built-ins only, and any Node from 20 on.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} path */
function modified(path) {
  return statSync(`${root}/${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

const installed = modified('node_modules/.package-lock.json'); // npm writes it last, so a broken install doesn't count
const locked = modified('package-lock.json');

if (installed === 0 || installed < locked) {
  const why = installed === 0 ? 'node_modules is missing' : 'node_modules is older than package-lock.json';
  console.error(`Installing dependencies (npm ci): ${why}. This takes about a minute and happens once.`);
  // The npm and the Node that run this script, not those in the node_modules that is about to be replaced.
  const { npm_execpath: npm, npm_node_execpath: node } = process.env;
  const [command, args] = npm && node ? [node, [npm, 'ci', '--loglevel=error']] : ['npm', ['ci', '--loglevel=error']];
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    console.error(
      `npm ci failed${error ? `: ${error.message}` : ''}. Its own message is above; it needs the npm registry (network or proxy) and about 700 MB of disk.`,
    );
    process.exit(status ?? 1);
  }
}
