import { describe, expect, test } from 'vitest';
import { seeded } from './faults.ts';
import { Invariants } from './invariants.ts';
import { names, World } from './world.ts';

/** `FAULT_SEEDS=2000 npm test` runs more; `FAULT_SEED=17` runs that one. */
const COUNT = Number(process.env['FAULT_SEEDS'] ?? 200);
const ONLY = process.env['FAULT_SEED'];
const CLUSTERS = 5;

/** Every `parts`th seed, so that several files share the work. */
export function seedTests(part: number, parts: number): void {
  const all = ONLY === undefined ? Array.from({ length: COUNT }, (_, i) => i + 1) : [Number(ONLY)];
  const seeds = all.filter((seed) => seed % parts === part);
  describe('faults of the table', () => {
    test.each(seeds)('seed %i ends as the rules say', (seed) => rollout(seed), 60_000);
    // The seed that was asked for may be in another file's part.
    if (seeds.length === 0) test('no seed of this part was asked for', () => undefined);
  });
}

/**
 * A rollout of five clusters while the table hides index rows, cancels transactions, throttles and loses answers: one cluster always fails, one
 * fails once, one is silent for a while. Whatever the seed, the end is the one that the rules give.
 */
async function rollout(seed: number): Promise<void> {
  const random = seeded(seed * 7919);
  const world = await World.start({ seed });
  try {
    await world.plainRules();
    await world.config({ max_retries: 1, retry_base_seconds: 10 });
    // A third of the usual times, so that silence, warning and return fit into few steps.
    await world.settings({ AGENT_REPORT_INTERVAL_SECONDS: 20, AGENT_WARNING_AFTER_SECONDS: 60, AGENT_CRITICAL_AFTER_SECONDS: 100 });
    await world.addClusters(names(CLUSTERS));
    for (const host of world.hosts.values()) host.behaviour.seconds = Math.floor(random() * 35);
    world.host('c1').behaviour.exit = () => 1;
    world.host('c2').behaviour.exit = (attempt) => (attempt === 1 ? 1 : 0);
    await world.turns();
    const percentage = [20, 50, 100][Math.floor(random() * 3)] ?? 100;
    const invariants = new Invariants(world, () => Math.max(1, Math.floor((CLUSTERS * percentage) / 100)));
    world.host('c3').behaviour.silent = true;
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: percentage });
    const wakesUp = world.now() + Math.floor(random() * 200_000);
    await world.until(async () => {
      if (world.now() >= wakesUp) world.host('c3').behaviour.silent = false;
      await invariants.check(1);
      return hasEnded(world);
    });
    await expectEnd(world);
  } finally {
    await world.stop();
  }
}

async function hasEnded(world: World): Promise<boolean> {
  const waves = await world.waves();
  const ended = waves.every(({ status, counters }) => status !== 'active' && counters.pending + counters.in_progress === 0);
  return waves.length > 0 && ended;
}

async function expectEnd(world: World): Promise<void> {
  const [wave, ...others] = await world.waves();
  expect(others).toEqual([]);
  expect(wave?.status).toBe('completed');
  expect(wave?.counters).toEqual({ total: CLUSTERS, done: CLUSTERS - 1, in_progress: 0, pending: 0, failed: 1, skipped: 0 });
  const attempts = [...world.hosts.values()].map((host) => [host.name, host.executed.length]);
  expect(Object.fromEntries(attempts)).toEqual({ c1: 2, c2: 2, c3: 1, c4: 1, c5: 1 });
}
