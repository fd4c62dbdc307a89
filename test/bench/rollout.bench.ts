/**
 * A whole rollout with agents that work at once, as `npm start` plays it: targets per second, and the memory of all its processes together.
 * Run: `node test/bench/rollout.bench.ts [clusters]`. Goal (DESIGN §9): 400 targets/s at 2,000 clusters; 10,000 in less than 1 GiB.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exampleFleet } from '../../scripts/example-fleet.ts';

const clusters = Number(process.argv[2] ?? 2000);
const folder = mkdtempSync(join(tmpdir(), 'block-rollout-bench-'));
const [fleet, report] = [join(folder, 'fleet.yaml'), join(folder, 'report.json')];
writeFileSync(fleet, exampleFleet({ clusters, seed: 1, percentage: 100, target: '0.34.0', instant: true }));
const flags = ['--memory', '--port', '0', '--exit-when-done', '--speed', '100', '--fleet', fleet, '--report', report];
const start = spawn('npm', ['start', '--', ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
let most = 0;
const look = setInterval(async () => {
  most = Math.max(most, await memoryOf(start.pid ?? 0));
}, 1000);
const [code] = await once(start, 'close');
clearInterval(look);
const { seconds, targets_per_second, counters, units } = JSON.parse(readFileSync(report, 'utf8'));
rmSync(folder, { recursive: true });
console.log(`${clusters} clusters, exit code ${code}: ${targets_per_second} targets/s (${seconds} s), at most ${most} MiB`);
console.log(JSON.stringify({ counters, units_per_item: units.per_item }));

/** MiB that a process and its descendants hold. */
async function memoryOf(root: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-e', '-o', 'pid=,ppid=,rss=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/).map(Number) as [number, number, number]);
  const family = new Set([root]);
  for (const [pid, parent] of rows.toSorted(([a], [b]) => a - b)) if (family.has(parent)) family.add(pid);
  return Math.round(rows.reduce((sum, [pid, , kib]) => sum + (family.has(pid) ? kib : 0), 0) / 1024);
}
