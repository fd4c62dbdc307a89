import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY, MINUTE } from '../../../lib/domain/shared/time.ts';
import { CONFIGS, CronApi } from '../../support/cron-api.ts';

let cron: CronApi;
beforeEach(async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
});
afterEach(() => cron.stop());

const THROTTLED = Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
const nextTick = async (): Promise<void> => {
  cron.api.clock.forward(MINUTE);
  await cron.tick();
};

test('made, changed and removed with the config', async () => {
  const { scheduler } = cron.api;
  const answer = await cron.create('0 2 * * *', { time_zone: 'Europe/Berlin' });
  const { id } = answer.body;
  expect(answer).toMatchObject({ status: 201, body: { schedule_status: 'ok', schedule_status_reason: null, last_fire: null } });
  expect(scheduler.of(id)).toBe('0 2 * * * Europe/Berlin');
  await cron.patch(id, { cron_expression: '30 2 * * *' });
  await cron.patch(id, { time_zone: 'UTC' });
  expect(scheduler.of(id)).toBe('30 2 * * * UTC');
  expect(await cron.patch(id, { active: false })).toMatchObject({ schedule_status: null, next_fire_at: null, next_fires: [] });
  expect(scheduler.schedules.size).toBe(0);
  await cron.patch(id, { active: true });
  expect(scheduler.of(id)).toBe('30 2 * * * UTC');
  await cron.api.send('DELETE', `${CONFIGS}${id}/`);
  expect(scheduler.schedules.size).toBe(0);
  await cron.api.post(`${CONFIGS}${id}/archive/`);
  expect(scheduler.of(id)).toBe('30 2 * * * UTC');
  await cron.patch(id, { trigger_type: 'reconciliation', action_name: 'install' });
  expect(scheduler.schedules.size).toBe(0);
});

test('a fleet file’s configs are scheduled when it is imported', async () => {
  const file = (cron_expression: string) => ({
    raw: JSON.stringify({
      apiVersion: 'block-rollout/v1',
      rollout_configs: [
        { name: 'n', kind: 'trigger', trigger_type: 'schedule', block_name: 'b', action_name: 'backup', cron_expression, time_zone: 'UTC' },
      ],
    }),
  });
  await cron.api.send('POST', 'import/', file('0 2 * * *'));
  expect([...cron.api.scheduler.schedules.values()].map((times) => times.cron.text)).toEqual(['0 2 * * *']);
  await cron.api.send('POST', 'import/', file('0 3 * * *'));
  expect([...cron.api.scheduler.schedules.values()].map((times) => times.cron.text)).toEqual(['0 3 * * *']);
  cron.api.clock.forward(4 * 60 * MINUTE);
  await cron.api.send('POST', 'import/', file('0 2 * * *'));
  await nextTick();
  expect(await cron.fires(), 'not for a time before').toEqual([]);
});

test.each([
  ['nothing done', false],
  ['done, but the answer was lost', true],
])('a scheduler that fails (%s): the config is saved and marked, the API says why, the tick repairs it', async (_what, done) => {
  const { scheduler } = cron.api;
  scheduler.broken = { error: THROTTLED, done };
  const made = await cron.create('0 2 * * *');
  expect(made).toMatchObject({ status: 201, body: { cron_expression: '0 2 * * *', schedule_status: 'pending' } });
  expect(made.body.schedule_status_reason).toContain('ThrottlingException: Rate exceeded');
  expect(made.body.next_fire_at).toBe('2026-06-01T02:00:00.000Z');
  const { id } = made.body;
  await nextTick();
  expect(await cron.read(id)).toMatchObject({ schedule_status: 'pending' });
  scheduler.broken = null;
  await nextTick();
  expect(await cron.read(id)).toMatchObject({ schedule_status: 'ok', schedule_status_reason: null });
  expect(scheduler.of(id)).toBe('0 2 * * * UTC');

  scheduler.broken = { error: THROTTLED, done };
  expect(await cron.patch(id, { cron_expression: '0 3 * * *' })).toMatchObject({ schedule_status: 'pending' });
  scheduler.broken = null;
  await nextTick();
  expect(scheduler.of(id)).toBe('0 3 * * * UTC');

  scheduler.broken = { error: THROTTLED, done };
  const off = await cron.patch(id, { active: false });
  expect(off).toMatchObject({ active: false, schedule_status: 'pending', next_fire_at: null });
  expect(off.schedule_status_reason).toContain('does not fire any more');
  scheduler.broken = null;
  await nextTick();
  expect(await cron.read(id)).toMatchObject({ schedule_status: null, schedule_status_reason: null });
  expect(scheduler.schedules.size).toBe(0);
});

test('while the scheduler fails, every fire comes all the same', async () => {
  cron.api.scheduler.broken = { error: THROTTLED, done: false };
  const id = await cron.made('*/2 * * * *');
  for (let i = 0; i < 6; i++) await nextTick();
  expect(await cron.fires()).toEqual(['2026-06-01T00:02Z', '2026-06-01T00:04Z']);
  expect(await cron.lastFire(id)).toEqual(['2026-06-01T00:04Z', null]);
});

test('a process that dies between the save and the schedule: the tick makes it, and takes away what it left', async () => {
  const { objects } = cron.api.services.resources;
  const id = await cron.made('0 2 * * *');
  const saved = await objects.get('block_rollout_config', id, true);
  if (saved === null) throw new Error('not saved');
  cron.api.scheduler.schedules.clear();
  const { version: _version, ...fresh } = saved;
  const twin = cron.api.services.ids.fresh();
  await objects.create('block_rollout_config', { ...fresh, id: twin });
  await objects.replace('block_rollout_config', saved, { ...saved, cron_expression: '0 4 * * *' });
  expect(await cron.read(twin)).toMatchObject({ schedule_status: 'pending' });
  await nextTick();
  expect([cron.api.scheduler.of(id), cron.api.scheduler.of(twin)]).toEqual(['0 4 * * * UTC', '0 2 * * * UTC']);
  for (const one of [id, twin]) {
    const before = await objects.get('block_rollout_config', one, true);
    if (before !== null) await objects.replace('block_rollout_config', before, { ...before, archived: true });
  }
  await nextTick();
  expect(cron.api.scheduler.schedules.size).toBe(0);
});

test('what somebody removed, added or changed at the scheduler is put right; another target puts all again', async () => {
  const { scheduler } = cron.api;
  const id = await cron.made('0 2 * * *');
  const right = scheduler.schedules.get(id);
  if (right === undefined) throw new Error('no schedule');
  scheduler.schedules.clear();
  scheduler.schedules.set('0197a7c0-0000-7000-8000-000000000001', right);
  await nextTick();
  expect([...scheduler.schedules.keys()]).toEqual([id]);
  scheduler.schedules.set(id, { ...right, time_zone: 'Asia/Tokyo' });
  cron.api.clock.forward(DAY);
  await nextTick();
  expect(scheduler.of(id)).toBe('0 2 * * * UTC');
  scheduler.schedules.set(id, { ...right, time_zone: 'Asia/Tokyo' });
  scheduler.revision = 'another role';
  await nextTick();
  expect(scheduler.of(id)).toBe('0 2 * * * UTC');
});

test('two changes at once: the scheduler ends with the later one, whoever told it last', async () => {
  const { scheduler } = cron.api;
  const id = await cron.made('0 2 * * *');
  scheduler.meanwhile = async () => {
    await cron.patch(id, { cron_expression: '0 4 * * *' });
  };
  await cron.patch(id, { cron_expression: '0 3 * * *' });
  expect(await cron.read(id)).toMatchObject({ cron_expression: '0 4 * * *', schedule_status: 'ok' });
  expect(scheduler.of(id)).toBe('0 4 * * * UTC');
});

test('a client that sends the whole object back changes nothing', async () => {
  const id = await cron.made('0 2 * * *');
  cron.api.clock.forward(130 * MINUTE);
  await cron.call({ rollout_config: id, scheduled_time: '2026-06-01T02:00:00Z' });
  const before = await cron.read(id);
  expect(before.last_fire).toMatchObject({ due_at: '2026-06-01T02:00:00.000Z', late: 'late: due 2026-06-01T02:00Z' });
  cron.api.clock.forward(MINUTE);
  const { body } = await cron.api.send('PUT', `${CONFIGS}${id}/`, { body: { ...before, display_name: 'Nightly' } });
  expect(body).toMatchObject({ last_fire: before.last_fire, next_fires: before.next_fires, schedule_status: 'ok' });
});
