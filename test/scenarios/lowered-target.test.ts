import { afterEach, expect, test } from 'vitest';
import { Console } from '../support/console.ts';
import { World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

test('SPEC §2.7 a target that is lowered again takes back what waits for the higher one, also where nothing else is needed', async () => {
  world = await World.start();
  await world.plainRules();
  await world.addClusters([
    { name: 'has-it', installed: '0.34.0' },
    { name: 'older', installed: '0.33.0' },
    { name: 'newer', installed: '0.34.5' },
  ]);
  const admin = await Console.open(world);
  await admin.patch('system-config/', { ROLLOUTS_PAUSED: { reason: 'audit' }, OPERATOR_BLOCK_VERSION: '0.35.0' });
  await world.settle();
  const before = await world.items((await world.wave()).id);
  expect(before.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);

  await admin.patch('system-config/', { OPERATOR_BLOCK_VERSION: '0.34.0' });
  await world.settle();
  await admin.patch('system-config/', { ROLLOUTS_PAUSED: null });
  await world.turns();
  await world.play(600, 30);

  for (const { id } of before) expect(await world.services.engine.item(id)).toMatchObject({ status: 'skipped', reason: 'superseded' });
  const operators = (await admin.get('operator-rollout/')).results;
  expect(new Map(operators.map((row: { cluster: string; installed_version: string }) => [row.cluster, row.installed_version]))).toEqual(
    new Map([
      ['has-it', '0.34.0'],
      ['newer', '0.34.5'],
      ['older', '0.34.0'],
    ]),
  );
});
