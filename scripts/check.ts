// Runs every static check and says at the end which failed, so that one broken check does not hide the next.
import { spawnSync } from 'node:child_process';

const CHECKS = ['types', 'lint', 'boundaries', 'dead', 'gen'];

const failed = CHECKS.filter((check) => {
  console.log(`\n— check:${check}`);
  const started = performance.now();
  const { status } = spawnSync('npm', ['run', '--silent', `check:${check}`], { stdio: 'inherit' });
  console.log(`${status === 0 ? 'ok' : 'FAILED'} check:${check} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return status !== 0;
});

console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.map((check) => `npm run check:${check}`).join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
