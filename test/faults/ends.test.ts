import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Host } from '../support/host.ts';
import { Tamper } from '../support/tamper.ts';
import { names, World } from '../support/world.ts';

/** What follows from an attempt's end, when whoever wrote it does not live to see it: the transaction is there, the answer never came. */

let world: World;
let tamper: Tamper;
beforeEach(async () => {
  tamper = new Tamper();
  world = await World.start({ between: tamper.wrap });
  await world.plainRules();
});
afterEach(() => world.stop());

/** The host has the run of its item, and reports the result: once into a table whose answer is lost, then again. */
async function finishTwice(host: Host): Promise<void> {
  const [work] = [...host.work.values()];
  if (work === undefined) throw new Error('the host has no work');
  let lost = 0;
  tamper.decide = ({ rows }) => {
    if (lost > 0 || !rows.includes(`R#${work.run}`)) return 'as usual';
    lost += 1;
    return 'lost';
  };
  await expect(finish(host, work.run)).rejects.toThrow('injected: Died');
  tamper.decide = () => 'as usual';
  expect(lost).toBe(1);
  await finish(host, work.run);
  await world.settle();
}
const finish = (host: Host, run: string) =>
  world.agents.finishRun({ ...host.call(run), stdout: null, stderr: null, exit_code: 1, cancelled: false, finished_at: null });

async function claimed(version: string): Promise<Host[]> {
  for (const host of world.hosts.values()) host.behaviour.seconds = null;
  await world.settings({ OPERATOR_BLOCK_VERSION: version });
  await world.turns();
  return [...world.hosts.values()].filter((host) => host.work.size > 0);
}

describe('the answer to an end was lost', () => {
  test('the place is given to the next as soon as the message comes again', async () => {
    await world.config({ max_concurrent_percent: 50, failure_threshold_percent: 100 });
    await world.addClusters(names(2));
    await world.turns();
    const [first, ...none] = await claimed('2.0.0');
    expect(none).toEqual([]);
    if (first === undefined) throw new Error('nobody works');
    await finishTwice(first);
    const items = await world.items((await world.wave()).id);
    expect(items.map(({ status }) => status).sort()).toEqual(['failed', 'in_progress']);
  });

  test('what was superseded meanwhile gets an item for the new target', async () => {
    await world.config({ failure_threshold_percent: 100 });
    await world.addClusters(names(1));
    await world.turns();
    const [host] = await claimed('2.0.0');
    if (host === undefined) throw new Error('nobody works');
    await world.settings({ OPERATOR_BLOCK_VERSION: '3.0.0' });
    await finishTwice(host);
    // The tick takes up the work that was written with the end.
    await world.advance(90);
    const waves = await world.waves();
    expect(waves.map(({ target_version, counters }) => [target_version, counters.total])).toEqual([
      ['2.0.0', 1],
      ['3.0.0', 1],
    ]);
  });
});
