/**
 * How long `npm start` takes until its API answers: the first time, with nothing compiled yet, and then.
 * Run: `node test/bench/start.bench.ts`. Goal (DESIGN §9): 3 s.
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LocalProcess } from '../support/local-process.ts';

rmSync(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)), { recursive: true, force: true });
const times: number[] = [];
for (let start = 0; start < 6; start++) {
  const before = performance.now();
  const one = new LocalProcess(['--memory', '--port', '0', '--no-agents']);
  if (!(await one.running())) throw new Error('It ended before it ran.');
  times.push(Math.round(performance.now() - before));
  await one.signal('SIGINT');
}
console.log(`until the API answers: first ${times[0]} ms, then ${times.slice(1).join(', ')} ms`);
