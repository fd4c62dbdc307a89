import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EXAMPLE_FLEET } from '../../local/fleet-source.ts';
import { seeded } from '../support/faults.ts';
import { LocalProcess, leftRunning } from '../support/local-process.ts';
import { checkStored, readStored, recount, type Stored } from '../support/recount.ts';

/** `KILL_SEED=17` repeats the moments of that run, as far as a machine repeats itself; `KILLS=500` kills more often. */
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
const KILLS = Number(process.env['KILLS'] ?? 50);

/** What the head of examples/fleet.yaml says. */
const END = { total: 27, done: 23, in_progress: 0, pending: 1, failed: 1, skipped: 2 };
const HISTOGRAM = { '0.34.0': 26, '0.34.1': 1, '0.33.1': 1, '0.32.0': 1, '0.31.2': 1 };
/** Of 30 clusters that may update at once; few, so that the rollout outlasts the kills. */
const PERCENTAGE = 7;
const LIMITS = { gate: 2, maxRetries: 2 };

/** Lives grow longer while the rollout is behind the kills, up to so many start times. */
const LONGEST_STRETCH = 3;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'block-rollout-kill-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The example fleet with short work, short pauses and few at once: the same targets, agents and end. */
function quickFleet(): string {
  const changes: readonly (readonly [string, string])[] = [
    ['OPERATOR_ROLLOUT_PERCENTAGE: 20', `OPERATOR_ROLLOUT_PERCENTAGE: ${PERCENTAGE}`],
    ['AGENT_REPORT_INTERVAL_SECONDS: 2', 'AGENT_REPORT_INTERVAL_SECONDS: 1'],
    ['retry_base_seconds: 5', 'retry_base_seconds: 1'],
  ];
  let text = readFileSync(EXAMPLE_FLEET, 'utf8');
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  const file = join(folder, 'fleet.yaml');
  writeFileSync(file, text);
  return file;
}

test(`kill -9 at ${KILLS} random moments of one rollout loses nothing (seed ${SEED})`, async () => {
  const fleet = quickFleet();
  const data = join(folder, 'data');
  const report = join(folder, 'report.json');
  const arguments_ = ['--data', data, '--port', '0', '--exit-when-done', '--report', report, '--speed', '4'];
  const random = seeded(SEED);
  const boots: number[] = [];
  let stored: Stored | null = null;
  let stretch = 1.2;
  for (let kill = 1; kill <= KILLS; kill++) {
    // Told the fleet once: whatever a crash cut short of its import, the later ones bring to its end. A life that ended before it had left word
    // of it has told nobody: the next one would take the example, which has a gate of its own.
    const told = existsSync(join(data, 'importing.yaml')) || existsSync(join(data, 'fleet.yaml'));
    const life = new LocalProcess([...arguments_, ...(told ? [] : ['--fleet', fleet])]);
    stretch = ahead(stored, kill / KILLS) ? 0.2 : Math.min(LONGEST_STRETCH, Math.max(1.2, stretch * 1.3));
    await untilItsEnd(life, random, boots, stretch);
    const { code, stderr } = await life.signal('SIGKILL');
    expect([code, stderr], `life ${kill} was killed, and had no fault before`).toEqual([null, '']);
    if (!existsSync(join(data, 'table.db'))) continue;
    const now = await readStored(join(data, 'table.db'));
    checkStored(now, stored, LIMITS);
    stored = now;
  }
  const { done } = recount(stored?.items ?? []);
  expect(done, 'the rollout went on between the kills, and until the last one').toSatisfy((n: number) => n > 0 && n < END.done);
  console.log(
    `${KILLS} kills, seed ${SEED}: the API answered ${median(boots)} ms after the start; at the last kill ${JSON.stringify(recount(stored?.items ?? []))}`,
  );
  const last = await new LocalProcess(arguments_).ended();
  expect([last.code, last.stderr]).toEqual([0, '']);
  checkStored(await readStored(join(data, 'table.db')), stored, LIMITS);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ counters: END, histogram: HISTOGRAM, waves: [{ status: 'active' }] });
  expect(await leftRunning(data), 'nothing is left running').toEqual([]);
}, 600_000);

/** Some lives end while they start, most while they work: `stretch` start times after it at most. */
async function untilItsEnd(life: LocalProcess, random: () => number, boots: number[], stretch: number): Promise<void> {
  const boot = median(boots);
  if (boots.length > 2 && random() < 0.3) return sleep(200 + random() * boot);
  const started = performance.now();
  if (!(await life.running())) return;
  boots.push(performance.now() - started);
  await sleep(random() * boot * stretch);
}

/** True when more of the rollout is over than of the kills. */
function ahead(stored: Stored | null, share: number): boolean {
  return recount(stored?.items ?? []).done > share * (END.done - 3);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 500);
}
