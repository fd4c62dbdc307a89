import { afterEach, expect, test } from 'vitest';
import { line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

test('B01 one percent of ten clusters is one at a time, never none and never all', async () => {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(names(10));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 1 });
  for (let tick = 0; tick < 40; tick++) {
    const wave = await world.wave();
    if (wave.status !== 'active') break;
    expect(wave.counters.in_progress).toBe(wave.counters.done < 10 ? 1 : 0);
    await world.play(60, 30);
  }
  const wave = await world.wave();
  expect(line(wave)).toBe('10 = 10+0+0+0+0');
  expect(wave.status).toBe('completed');
});

test('B02 zero holds, and 25 percent of eight starts exactly two', async () => {
  world = await World.start();
  await world.plainRules();
  await world.addClusters(names(8));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 0 });
  await world.play(300, 60);
  expect(line(await world.wave())).toBe('8 = 0+0+8+0+0');
  await world.settings({ OPERATOR_ROLLOUT_PERCENTAGE: 25 });
  expect(line(await world.wave())).toBe('8 = 0+2+6+0+0');
});
