import { afterEach, describe, expect, test } from 'vitest';
import { planWave } from '../../lib/app/engine/plan-wave.ts';
import { COUNTED } from '../../scripts/docs/counted.ts';
import { WaitingItems } from '../support/waiting-items.ts';
import { names, World } from '../support/world.ts';

/** DESIGN §9, counted in the units that the table itself reports. */

let world: World;
afterEach(() => world.stop());

const spent = () => ({ ...world.runtime.table.units.total });

describe('one item, from enqueue to completed and verified, one attempt', () => {
  test.each([100, 400])(
    'costs at most 42 write and 15 read units in a fleet of %i',
    async (n) => {
      // On AWS a wake is held back until a second after the last plan, so that one turn serves many ends.
      world = await World.start({ gatherMs: 1_000 });
      await world.plainRules();
      await world.addClusters(names(n));
      for (const host of world.hosts.values()) host.behaviour.seconds = 0;
      await world.turns();
      const before = spent();
      await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
      await world.turns();
      await world.advance(5);
      const after = spent();
      const wave = await world.wave();
      expect(wave.counters.done).toBe(n);
      const write = (after.write - before.write) / n;
      const read = (after.read - before.read) / n;
      console.log(`item life in a fleet of ${n}: ${write.toFixed(2)} write units, ${read.toFixed(2)} read units`);
      expect(write).toBeLessThanOrEqual(COUNTED.item.write);
      expect(read).toBeLessThanOrEqual(COUNTED.item.read);
    },
    60_000,
  );
});

test('a heartbeat without change is one write unit and no read', async () => {
  world = await World.start();
  const [host] = await world.addClusters(names(1));
  await host?.report();
  await host?.report();
  const before = spent();
  await host?.report();
  expect(spent()).toEqual({ write: before.write + COUNTED.heartbeat.write, read: before.read + COUNTED.heartbeat.read });
});

test('a plan reads the same at 100, 10,000 and 100,000 waiting items', async () => {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(names(10));
  await world.turns();
  const { services } = world;
  const settings = await services.settings.read();
  await services.settings.write(settings, { ...settings, OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 0 }, []);
  const items = await WaitingItems.start(world);
  const reads: number[] = [];
  for (const size of [100, 10_000, 100_000]) {
    await items.growTo(size);
    const execution = `wave-${items.wave}-g${reads.length + 1}`;
    const before = spent();
    await planWave(services, { block_rollout: items.wave, generation: reads.length + 1, execution, turn: 0, events: 0, definition: '' });
    reads.push(spent().read - before.read);
  }
  console.log(`read units of one plan at 100, 10,000 and 100,000 items: ${reads.join(', ')}`);
  expect(reads[1]).toBe(reads[0]);
  expect(reads[2]).toBe(reads[0]);
}, 180_000);
