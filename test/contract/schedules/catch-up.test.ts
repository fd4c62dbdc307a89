import { afterEach, expect, test } from 'vitest';
import type { UnitMeter } from '../../../lib/adapters/dynamodb/units.ts';
import { scheduleTick } from '../../../lib/app/schedules/tick.ts';
import { MINUTE } from '../../../lib/domain/shared/time.ts';
import { at, CronApi, minuteText } from '../../support/cron-api.ts';

let cron: CronApi;
afterEach(() => cron.stop());

test('a minute that nobody called for is caught up by the tick, once, and is in time', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('0 2 * * *');
  await cron.tick('2026-06-01T02:00:00Z');
  expect(await cron.fires(), 'the scheduler has its minute').toEqual([]);
  await cron.tick('2026-06-01T02:01:00Z');
  await cron.tick('2026-06-01T02:02:00Z');
  expect(await cron.lastFire(id)).toEqual(['2026-06-01T02:00Z', null]);
  expect(await cron.call({ rollout_config: id, scheduled_time: '2026-06-01T02:00:00Z' })).toEqual({ fired: false, why: 'done' });
  expect(await cron.fires()).toEqual(['2026-06-01T02:00Z']);
});

test('a minute that somebody called for is left alone by the tick', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('0 2 * * *');
  await cron.callAt(id, '2026-06-01T02:00:04Z');
  for (const time of ['02:00:30', '02:01:00', '02:02:00', '03:00:00']) await cron.tick(`2026-06-01T${time}Z`);
  expect(await cron.fires()).toEqual(['2026-06-01T02:00Z']);
});

test('every minute, without a scheduler: the tick does each of them', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  await cron.made('* * * * *');
  for (let t = at('2026-06-01T00:01:00Z'); t <= at('2026-06-01T00:08:00Z'); t += MINUTE) await cron.tick(minuteText(t));
  expect(await cron.fires()).toEqual(Array.from({ length: 7 }, (_, i) => `2026-06-01T00:0${i + 1}Z`));
});

test('B34 down for three fires: the latest runs, once, late, whatever order its calls come in', async () => {
  cron = await CronApi.start('2026-11-27T18:30:00Z');
  const id = await cron.made('0 * * * *');
  await cron.callAt(id, '2026-11-27T19:00:00Z');
  cron.api.clock.to(at('2026-11-27T22:30:10Z'));
  for (const hour of [21, 20]) {
    const outcome = await cron.call({ rollout_config: id, scheduled_time: `2026-11-27T${hour}:00:00Z` });
    expect(outcome).toEqual({ fired: false, why: 'a_later_one_is_due' });
  }
  await Promise.all([cron.tick(), cron.tick(), cron.call({ rollout_config: id, scheduled_time: '2026-11-27T22:00:00Z' })]);
  expect(await cron.lastFire(id)).toEqual(['2026-11-27T22:00Z', 'late: due 2026-11-27T22:00Z (earlier fires were missed)']);
  expect(await cron.call({ rollout_config: id, scheduled_time: '2026-11-27T20:00:00Z' })).toEqual({ fired: false, why: 'done' });
  await cron.callAt(id, '2026-11-27T23:00:00Z');
  expect(await cron.fires()).toEqual(['2026-11-27T19:00Z', '2026-11-27T22:00Z', '2026-11-27T23:00Z']);
  expect(await cron.lastFire(id)).toEqual(['2026-11-27T23:00Z', null]);
});

test('B34 down for 110 minutes of an every-minute cron: one fire, then normal running', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('* * * * *');
  await cron.callAt(id, '2026-06-01T00:01:00Z');
  await cron.tick('2026-06-01T01:51:00Z');
  expect(await cron.fires()).toEqual(['2026-06-01T00:01Z', '2026-06-01T01:50Z']);
  expect(minuteText((await cron.read(id)).next_fire_at)).toBe('2026-06-01T01:52Z');
  await cron.callAt(id, '2026-06-01T01:52:00Z');
  await cron.callAt(id, '2026-06-01T01:53:00Z');
  expect((await cron.fires()).slice(2)).toEqual(['2026-06-01T01:52Z', '2026-06-01T01:53Z']);
});

test('two ticks at once start a missed fire once', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  await cron.made('0 2 * * *');
  cron.api.clock.to(at('2026-06-01T02:01:00Z'));
  await Promise.all([cron.tick(), cron.tick(), cron.tick()]);
  expect(await cron.fires()).toEqual(['2026-06-01T02:00Z']);
  expect(cron.api.started).toEqual([...new Set(cron.api.started)]);
  expect(cron.said('tick_step_failed')).toEqual([]);
});

test('a process that dies between the fire and the start of its work: the tick starts the work', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('0 2 * * *');
  const { workflows } = cron.api.services.engine;
  const start = workflows.startEnqueue;
  workflows.startEnqueue = () => Promise.reject(new Error('the process is dead'));
  expect(await cron.callAt(id, '2026-06-01T02:00:00Z')).toMatchObject({ fired: true });
  expect(await cron.fires()).toEqual([]);
  workflows.startEnqueue = start;
  await cron.tick('2026-06-01T02:01:00Z');
  expect(await cron.fires()).toEqual(['2026-06-01T02:00Z']);
});

const FLEET = (clusters: number) =>
  JSON.stringify({
    apiVersion: 'block-rollout/v1',
    organizations: [
      { name: 'acme', workspaces: [{ name: 'prod', clusters: Array.from({ length: clusters }, (_, i) => ({ name: `c${i}` })) }] },
    ],
  });

test('the tick’s look at schedules costs the same however many items wait', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('0 * * * *');
  const spent: number[] = [];
  for (const clusters of [5, 250]) {
    await cron.api.send('POST', 'import/', { raw: FLEET(clusters) });
    cron.api.clock.forward(60 * MINUTE);
    await cron.call({ rollout_config: id });
    await cron.enqueue();
    const { units, engine } = cron.api.services;
    await units.within(`look ${clusters}`, () => scheduleTick(engine));
    spent.push(unitsOf(`look ${clusters}`));
    const waves = (await cron.api.get('block-rollouts/')).body.results;
    expect(waves.map((wave: { pending_items: number }) => wave.pending_items)).toEqual([clusters]);
  }
  expect(spent[1]).toBe(spent[0]);
});

/** Read and write units booked under a name. */
function unitsOf(name: string): number {
  const spent = (cron.api.services.units as UnitMeter).byOperation.get(name);
  return (spent?.read ?? 0) + (spent?.write ?? 0);
}
