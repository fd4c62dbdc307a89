import { afterEach, describe, expect, test } from 'vitest';
import { blankItem } from '../../lib/app/engine/blank-item.ts';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import { newWave } from '../../lib/app/engine/join-wave.ts';
import { newBlock } from '../../lib/app/engine/new-block.ts';
import { planWave } from '../../lib/app/engine/plan-wave.ts';
import { OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import type { Item } from '../../lib/domain/shared/rollout.ts';
import { COUNTED } from '../../scripts/docs/counted.ts';
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
  const config = await services.objects.get('block_rollout_config', operatorConfigId(services.ids));
  const block = await operatorBlock();
  const id = services.ids.fresh();
  const kind = {
    id,
    config,
    block_name: OPERATOR_BLOCK,
    owner_kind: null,
    target_version: '2.0.0',
    template_revision: 1,
    quiescence_seconds: 0,
    enqueue_run: null,
    reason: null,
  };
  const wave = newWave({ ...kind, source: 'scheduler' }, world.now());
  await services.engine.commit({ waves: [{ id, create: wave }] });
  const reads: number[] = [];
  let total = 0;
  for (const size of [100, 10_000, 100_000]) {
    while (total < size) total += await addItems(id, block, Math.min(90, size - total));
    const execution = `wave-${id}-g${reads.length + 1}`;
    const before = spent();
    await planWave(services, { block_rollout: id, generation: reads.length + 1, execution, turn: 0, events: 0, definition: '' });
    reads.push(spent().read - before.read);
  }
  console.log(`read units of one plan at 100, 10,000 and 100,000 items: ${reads.join(', ')}`);
  expect(reads[1]).toBe(reads[0]);
  expect(reads[2]).toBe(reads[0]);
}, 180_000);

async function operatorBlock(): Promise<string> {
  const { services } = world;
  const host = world.host('c1');
  const cluster = await services.objects.get('k8s_cluster', host.id);
  const workspace = await services.objects.get('workspace', host.workspace);
  const organization = await services.objects.get('organization', host.organization);
  const config = await services.objects.get('block_rollout_config', operatorConfigId(services.ids));
  if (cluster === null || workspace === null || organization === null || config === null) throw new Error('the fleet is not complete');
  const block = newBlock(services, config, { target: { cluster, workspace, organization }, app: null }, world.now());
  return (await services.objects.create('block', block)).id;
}

/** Items that wait for the gate, which is shut. */
async function addItems(wave: string, block: string, n: number): Promise<number> {
  const { services } = world;
  const host = world.host('c1');
  const items = Array.from({ length: n }, (): Item => {
    const item = blankItem(services, world.now());
    return {
      ...item,
      block,
      block_name: OPERATOR_BLOCK,
      organization: host.organization,
      workspace: host.workspace,
      k8s_cluster: host.id,
      rollout: wave,
      rendered_target_version: '2.0.0',
    };
  });
  await services.engine.commit({ items: items.map((after) => ({ before: null, after })) });
  return n;
}
