import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { operatorConfigId } from '../../lib/app/engine/configs.ts';
import type { BlockRolloutConfig } from '../../lib/domain/shared/rollout.ts';
import { localContext } from '../../local/lambda.ts';
import { names, World } from '../support/world.ts';

/** SPEC §10: an administrator starts the wave machine by hand; the console names the execution with a UUID. */
const BY_HAND = 'd0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f';
const OTHER = '0195a000-0000-7000-8000-00000000ffff';

describe('the wave machine, started by hand', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.start();
    await world.plainRules();
    await world.addClusters(names(3));
    await world.turns();
  });
  afterEach(() => world.stop());

  async function start(input: unknown, name = BY_HAND) {
    await world.runtime.engine.start('wave', name, input);
    const ended = world.runtime.engine.ended(name);
    await world.settle();
    return world.runtime.engine.running().includes(name) ? null : await ended;
  }

  const resolve = (input: unknown, execution = BY_HAND) =>
    world.runtime.functions['wave-plan']({ state: 'Resolve', input, execution }, localContext('wave-plan', 'r'));

  const openWave = async (version: string) => {
    for (const host of world.hosts.values()) host.behaviour.seconds = null;
    await world.settings({ OPERATOR_BLOCK_VERSION: version });
    return world.wave();
  };

  const own = (change: Partial<BlockRolloutConfig>) => world.config(change);

  test.each([['operator'], ['id'], ['wave'], ['WAVE']])(
    'one open wave: the execution drives it (by %s), and the former one ends at once',
    async (by) => {
      const wave = await openWave('2.0.0');
      const former = String(wave.driver);
      const input = {
        operator: { rollout_config: 'operator' },
        id: { rollout_config: operatorConfigId(world.services.ids) },
        wave: { block_rollout: wave.id },
        WAVE: { block_rollout: wave.id.toUpperCase() },
      }[by];
      expect(await start(input)).toBeNull();
      expect(await world.wave()).toMatchObject({ driver: BY_HAND, generation: wave.generation + 1 });
      expect(world.runtime.engine.running()).toEqual([BY_HAND]);
      expect(former).not.toBe(BY_HAND);
      for (const host of world.hosts.values()) host.behaviour.seconds = 1;
      await world.until(async () => (await world.wave()).status === 'completed');
      expect((await world.wave()).counters).toMatchObject({ total: 3, done: 3 });
    },
  );

  test('several open waves: each gets an execution, and they are named', async () => {
    const { objects } = world.services;
    const cluster = await objects.get('k8s_cluster', world.host('c1').id, true);
    if (cluster === null) throw new Error('no cluster');
    await objects.replace('k8s_cluster', cluster, {
      ...cluster,
      rollout_override: { ...cluster.rollout_override, version_override: '2.5.0' },
    });
    await openWave('2.0.0');
    const before = await world.waves();
    expect(before.map((w) => w.target_version).sort()).toEqual(['2.0.0', '2.5.0']);
    const answer = (await resolve({ rollout_config: 'operator' })) as { next: string; waves: string[]; said: string };
    const names = before.map((w) => `wave-${w.id}-g${w.generation + 1}`);
    expect(answer).toMatchObject({ next: 'started_others', waves: before.map((w) => w.id) });
    expect(answer.said).toBe(`Rollout config "operator" has 2 open waves; each has got an execution of its own: ${names.join(', ')}.`);
    await world.settle();
    expect((await world.waves()).map((w) => w.driver)).toEqual(names);
    expect([...world.runtime.engine.running()].sort()).toEqual([...names].sort());
    expect(await start({ rollout_config: 'operator' })).toMatchObject({ status: 'SUCCEEDED' });
  });

  test('no open wave: an enqueue run is started, once however often the step is tried, and the answer says so', async () => {
    const first = (await resolve({ rollout_config: 'operator' })) as { enqueue_run: string; said: string };
    const again = (await resolve({ rollout_config: 'operator' })) as { enqueue_run: string };
    expect(first).toMatchObject({ next: 'enqueued', said: expect.stringContaining(`no open wave. Enqueue run ${first.enqueue_run}`) });
    expect(again.enqueue_run).toBe(first.enqueue_run);
    await world.settle();
    expect(await world.services.engine.enqueueRun(first.enqueue_run)).toMatchObject({ status: 'done', requested_by: 'console' });
    expect(await start({ rollout_config: 'operator' }, OTHER)).toMatchObject({ status: 'SUCCEEDED' });
  });

  test.each([
    ['a text', 'operator', 'The input is not an object. Expected {"rollout_config": "<id or name>"} or {"block_rollout"'],
    ['nothing in it', {}, 'names neither a wave nor a rollout config'],
    ['both', { rollout_config: 'operator', block_rollout: OTHER }, 'or both'],
    ['a number', { rollout_config: 7 }, 'names neither'],
    ['another word', { config: 'operator' }, 'unknown fields: config'],
    [
      'an unknown name',
      { rollout_config: 'opperator' },
      'There is no rollout config "opperator". GET /api/v1/block-rollout-configs/ lists them.',
    ],
    ['an unknown id', { rollout_config: OTHER }, `There is no rollout config "${OTHER}"`],
    ['an unknown wave', { block_rollout: OTHER }, `There is no wave ${OTHER}. GET /api/v1/block-rollouts/ lists them.`],
    ['not even an id', { block_rollout: 'wave 7' }, 'There is no wave wave 7'],
    ['the default settings', { rollout_config: 'defaults' }, 'holds default settings (kind config); it starts nothing'],
  ])('%s: fails as InvalidInput and says what to do', async (_, input, cause) => {
    expect(await start(input)).toMatchObject({ status: 'FAILED', error: 'InvalidInput', cause: expect.stringContaining(cause) });
  });

  test('an inactive or archived config, and a wave that is over: fails and says what to do', async () => {
    await own({ active: false });
    expect(await start({ rollout_config: 'operator' })).toMatchObject({
      error: 'InvalidInput',
      cause: expect.stringContaining('is inactive. Set "active" to true'),
    });
    await own({ archived: true });
    expect(await start({ rollout_config: 'operator' }, OTHER)).toMatchObject({ cause: expect.stringContaining('is archived') });
    await own({ active: true, archived: false });
    const wave = await openWave('2.0.0');
    for (const host of world.hosts.values()) host.behaviour.seconds = 1;
    await world.until(async () => (await world.wave()).status === 'completed');
    const over = await start({ block_rollout: wave.id }, '0195a000-0000-7000-8000-00000000fffe');
    expect(over).toMatchObject({ error: 'InvalidInput', cause: expect.stringContaining('is completed; there is nothing to drive') });
  });

  test.each([['rollout_config'], ['block_rollout']])(
    'killed: execution-watch starts the next driver, though the name says nothing (%s)',
    async (by) => {
      const wave = await openWave('2.0.0');
      const input = by === 'block_rollout' ? { block_rollout: wave.id } : { rollout_config: 'operator' };
      await start(input);
      const detail = { executionArn: 'arn:aws:states:x', name: BY_HAND, status: 'ABORTED', input: JSON.stringify(input) };
      await world.runtime.functions['execution-watch']({ detail }, localContext('execution-watch', 'r'));
      await world.settle();
      expect(await world.wave()).toMatchObject({ driver: `wave-${wave.id}-g${wave.generation + 2}` });
      expect(world.runtime.engine.running()).toEqual([`wave-${wave.id}-g${wave.generation + 2}`]);
    },
  );

  test('killed before its first write: a driver that was to come is replaced, one that was overtaken is not', async () => {
    const wave = await openWave('2.0.0');
    const ended = (generation: number) => {
      const name = `wave-${wave.id}-g${generation}`;
      const detail = { executionArn: 'arn:aws:states:x', name, status: 'ABORTED', input: '{}' };
      return world.runtime.functions['execution-watch']({ detail }, localContext('execution-watch', 'r'));
    };
    await ended(wave.generation + 4);
    await world.settle();
    expect(await world.wave()).toMatchObject({ generation: wave.generation + 5 });
    await ended(wave.generation + 4);
    await world.settle();
    expect(world.runtime.engine.running()).toEqual([`wave-${wave.id}-g${wave.generation + 5}`]);
  });

  test('killed before it drove anything, or with input that is no JSON: nothing is started', async () => {
    const wave = await openWave('2.0.0');
    for (const input of [null, '[1]', 'no json', '{"rollout_config":"operator"}', `{"block_rollout":"${wave.id}"}`]) {
      const detail = { executionArn: 'arn:aws:states:x', name: OTHER, status: 'ABORTED', input };
      await world.runtime.functions['execution-watch']({ detail }, localContext('execution-watch', 'r'));
    }
    expect(world.runtime.engine.running()).toEqual([wave.driver]);
  });
});
