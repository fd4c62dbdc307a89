import { describe, expect, test } from 'vitest';
import { seeded } from '../support/faults.ts';
import { Invariants } from '../support/invariants.ts';
import { names, World } from '../support/world.ts';

/** `FAULT_SEEDS=2000 npm test` runs more; `FAULT_SEED=17` runs that one. */
const COUNT = Number(process.env['FAULT_SEEDS'] ?? 200);
const only = process.env['FAULT_SEED'];
const seeds = only === undefined ? Array.from({ length: COUNT }, (_, i) => i + 1) : [Number(only)];

/**
 * A rollout of seven clusters while the table hides index rows, cancels transactions, throttles and loses answers: one cluster always fails, one
 * fails once, one is silent for a while. Whatever the seed, the end is the one that the rules give.
 */
async function rollout(seed: number): Promise<void> {
  const random = seeded(seed * 7919);
  const world = await World.start({ seed });
  try {
    await world.plainRules();
    await world.config({ max_retries: 1, retry_base_seconds: 10 });
    await world.addClusters(names(7));
    for (const host of world.hosts.values()) host.behaviour.seconds = Math.floor(random() * 45);
    world.host('c1').behaviour.exit = () => 1;
    world.host('c2').behaviour.exit = (attempt) => (attempt === 1 ? 1 : 0);
    await world.turns();
    const percentage = [20, 50, 100][Math.floor(random() * 3)] ?? 100;
    const invariants = new Invariants(world, () => Math.max(1, Math.floor((7 * percentage) / 100)));
    world.host('c3').behaviour.silent = true;
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: percentage });
    const wakesUp = world.now() + Math.floor(random() * 400_000);
    await world.until(async () => {
      if (world.now() >= wakesUp) world.host('c3').behaviour.silent = false;
      await invariants.check(1);
      const waves = await world.waves();
      return (
        waves.length > 0 &&
        waves.every((w) => w.status === 'completed' || w.status === 'blocked') &&
        waves.every((w) => w.counters.pending + w.counters.in_progress === 0)
      );
    });
    const [wave, ...others] = await world.waves();
    expect(others).toEqual([]);
    expect(wave?.status).toBe('completed');
    expect(wave?.counters).toEqual({ total: 7, done: 6, in_progress: 0, pending: 0, failed: 1, skipped: 0 });
    expect(world.host('c1').executed).toHaveLength(2);
    expect(world.host('c2').executed).toHaveLength(2);
    for (const name of ['c3', 'c4', 'c5', 'c6', 'c7']) expect(world.host(name).executed).toHaveLength(1);
  } finally {
    await world.stop();
  }
}

describe('faults of the table', () => {
  test.each(seeds)('seed %i ends as the rules say', (seed) => rollout(seed), 60_000);
});
