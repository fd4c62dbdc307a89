import { afterEach, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../lib/domain/shared/time.ts';
import { at, CONFIGS, CronApi, minuteText } from '../../support/cron-api.ts';

let cron: CronApi;
afterEach(() => cron.stop());

const BERLIN = { time_zone: 'Europe/Berlin' };

/** The scheduler calls at each half hour, as one that knows no clock changes might; what we start is what counts. */
async function callEachHalfHour(id: string, from: string, until: string): Promise<void> {
  for (let t = at(from); t <= at(until); t += 30 * MINUTE) await cron.callAt(id, minuteText(t));
}

test('B32 boundary 1 the hour that does not exist: the preview names what fires, and what it does not name does nothing', async () => {
  cron = await CronApi.start('2026-03-28T12:00:00Z');
  const id = await cron.made('30 2 * * *', BERLIN);
  const { next_fires, next_fire_at } = await cron.read(id);
  expect(next_fire_at).toBe(next_fires[0].at);
  expect(next_fires[0]).toEqual({ at: '2026-03-30T00:30:00.000Z', local: '2026-03-30 02:30 +02:00 Europe/Berlin' });
  expect(next_fires).toHaveLength(10);
  await callEachHalfHour(id, '2026-03-28T12:30Z', '2026-03-30T12:00Z');
  expect(await cron.fires()).toEqual(['2026-03-30T00:30Z']);
});

test('B32 the repeated hour fires once, at its first pass', async () => {
  cron = await CronApi.start('2026-10-24T12:00:00Z');
  const id = await cron.made('30 2 * * *', BERLIN);
  const named = (await cron.read(id)).next_fires.slice(0, 2).map((fire: { at: string }) => minuteText(fire.at));
  await callEachHalfHour(id, '2026-10-24T12:30Z', '2026-10-26T12:00Z');
  expect(await cron.fires()).toEqual(['2026-10-25T00:30Z', '2026-10-26T01:30Z']);
  expect(named).toEqual(['2026-10-25T00:30Z', '2026-10-26T01:30Z']);
});

test('boundary 3 Sunday 08:00 on the day of the clock change', async () => {
  cron = await CronApi.start('2026-03-28T22:00:00Z');
  const id = await cron.made('0 8 * * 0', BERLIN);
  const { next_fires } = await cron.read(id);
  expect(next_fires.slice(0, 2).map((fire: { at: string }) => minuteText(fire.at))).toEqual(['2026-03-29T06:00Z', '2026-04-05T06:00Z']);
  for (const time of ['2026-03-29T06:00Z', '2026-03-29T07:00Z', '2026-04-05T06:00Z', '2026-04-05T07:00Z']) await cron.callAt(id, time);
  expect(await cron.fires()).toEqual(['2026-03-29T06:00Z', '2026-04-05T06:00Z']);
});

test('boundary 5 both day fields: the days of one year, as the API names them', async () => {
  cron = await CronApi.start('2025-12-31T23:59:00Z');
  const id = await cron.made('0 0 13 * 5');
  const days = new Set<string>();
  for (let more = true; more; ) {
    const { next_fires } = await cron.read(id);
    for (const fire of next_fires) if (fire.at < '2027') days.add(fire.at.slice(0, 10));
    const last = next_fires.at(-1).at;
    more = last < '2027';
    cron.api.clock.to(at(last));
  }
  expect(days.size).toBe(61);
});

test.each([
  ['0 0 29 2 *', '2026-01-01T00:00Z', '2028-02-29T00:00Z'],
  ['0 0 31 * *', '2026-01-31T12:00Z', '2026-03-31T00:00Z'],
])('boundary 6 %s after %s fires at %s', async (text, now, next) => {
  cron = await CronApi.start(now);
  const id = await cron.made(text);
  expect(minuteText((await cron.read(id)).next_fire_at)).toBe(next);
  await cron.callAt(id, next);
  expect(await cron.lastFire(id)).toEqual([next, null]);
});

test.each([
  ['4', { cron_expression: '0 2 * * ? *' }, 'cron_expression', '6 fields found'],
  ['6', { cron_expression: '0 0 30 2 *' }, 'cron_expression', 'never comes'],
  ['7', { cron_expression: '' }, 'cron_expression', 'empty'],
  ['7', { cron_expression: '* * * *' }, 'cron_expression', '4 fields found'],
  ['7', { cron_expression: '60 * * * *' }, 'cron_expression', 'minute: 60 is out of range'],
  ['7', { time_zone: 'Europe/Berln' }, 'time_zone', 'not a known time zone'],
])('boundary %s %j is refused when it is saved, and the old value stays', async (_row, wrong, attr, words) => {
  cron = await CronApi.start('2026-01-01T00:00:00Z');
  const refused = async (answer: Promise<{ status: number; body: { errors: { attr: string; detail: string }[] } }>) => {
    const { status, body } = await answer;
    expect([status, body.errors.map((e) => e.attr)]).toEqual([400, [attr]]);
    expect(body.errors[0]?.detail).toContain(words);
  };
  await refused(cron.create('0 2 * * *', wrong));
  const id = await cron.made('0 2 * * *');
  await refused(cron.api.send('PATCH', `${CONFIGS}${id}/`, { body: wrong }));
  expect(await cron.read(id)).toMatchObject({ cron_expression: '0 2 * * *', time_zone: 'UTC', schedule_status: 'ok' });
  expect(cron.api.scheduler.of(id)).toBe('0 2 * * * UTC');
});

test('B35 the same call three times, two at once, is one fire; the next day’s is another', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('0 2 * * *');
  cron.api.clock.to(at('2026-06-01T02:00:00Z'));
  const event = { rollout_config: id, scheduled_time: '2026-06-01T02:00:00Z' };
  const both = (await Promise.all([cron.call(event), cron.call(event)])) as { fired: boolean }[];
  expect(both.map((outcome) => outcome.fired).sort()).toEqual([false, true]);
  cron.api.clock.forward(10 * MINUTE);
  expect(await cron.call(event)).toEqual({ fired: false, why: 'done' });
  await cron.callAt(id, '2026-06-02T02:00:03Z');
  expect(await cron.fires()).toEqual(['2026-06-01T02:00Z', '2026-06-02T02:00Z']);
});

test.each([undefined, '<aws.scheduler.scheduled-time>', '', 'tomorrow', '2026-06-01', 1_780_000_000, null])(
  'without a readable time (%j) the minute of arrival counts',
  async (scheduled_time) => {
    cron = await CronApi.start('2026-06-01T00:00:00Z');
    const rollout_config = await cron.made('0 2 * * *');
    const event = { rollout_config, ...(scheduled_time === undefined ? {} : { scheduled_time }) };
    cron.api.clock.to(at('2026-06-01T01:59:58Z'));
    expect(await cron.call(event)).toEqual({ fired: false, why: 'not_named' });
    cron.api.clock.to(at('2026-06-01T02:00:41Z'));
    expect(await cron.call(event)).toMatchObject({ fired: true, late: null });
    expect(await cron.fires()).toEqual(['2026-06-01T02:00Z']);
  },
);

test('a time with an offset or with seconds is its minute', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const rollout_config = await cron.made('0 2 * * *');
  cron.api.clock.to(at('2026-06-01T02:01:02Z'));
  expect(await cron.call({ rollout_config, scheduled_time: '2026-06-01T04:00:30.5+02:00' })).toMatchObject({ fired: true });
});

test.each([
  ['not an object', 'backup'],
  ['not an object', null],
  ['not an object', []],
  ['names no rollout config as text', {}],
  ['names no rollout config as text', { rollout_config: 7 }],
  ['names no rollout config as text', { rollout_config: '' }],
])('a person’s input that is %s: %j', async (words, event) => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  await expect(cron.call(event)).rejects.toThrow(words);
  await expect(cron.call(event)).rejects.toThrow('Expected {"rollout_config": "<id or name>"');
});

test('configs that do not fire: nothing happens, and the log says why', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('* * * * *');
  await cron.patch(id, { active: false });
  cron.api.clock.to(at('2026-06-01T00:05:00Z'));
  const unknown = '0197a7c0-0000-7000-8000-000000000001';
  for (const [rollout_config, why] of [
    [id, 'not_scheduled'],
    ['nightly', 'not_scheduled'],
    ['operator', 'not_scheduled'],
    ['defaults', 'not_scheduled'],
    [unknown, 'unknown_config'],
    ['no-such-config', 'unknown_config'],
  ]) {
    expect(await cron.call({ rollout_config })).toEqual({ fired: false, why });
    expect(cron.said('trigger_did_nothing')).toMatchObject([{ rollout_config, reason: why }]);
  }
  expect(await cron.fires()).toEqual([]);
  await cron.patch(id, { active: true });
  cron.api.clock.to(at('2026-06-01T00:06:00Z'));
  expect(await cron.call({ rollout_config: 'nightly' }), 'by name, as a person writes it').toMatchObject({ fired: true });
});

test('a call for a minute that lies ahead does nothing', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const rollout_config = await cron.made('0 2 * * *');
  cron.api.clock.to(at('2026-06-01T01:00:00Z'));
  const event = { rollout_config, scheduled_time: '2026-06-01T02:00:00Z' };
  expect(await cron.call(event)).toEqual({ fired: false, why: 'before_its_time' });
  cron.api.clock.to(at('2026-06-01T01:59:58Z'));
  expect(await cron.call(event), 'a clock that goes a little ahead of ours').toMatchObject({ fired: true });
});

test('it never fires for a time before it was made, activated, brought back or given this time', async () => {
  cron = await CronApi.start('2026-06-01T02:00:30Z');
  const id = await cron.made('0 2 * * *');
  const nothing = async (why: string) => {
    const due = `${new Date(cron.api.clock.now()).toISOString().slice(0, 10)}T02:00:00Z`;
    expect(await cron.call({ rollout_config: id, scheduled_time: due }), why).toEqual({ fired: false, why: 'before_the_schedule' });
    await cron.tick();
    cron.api.clock.forward(2 * HOUR);
    await cron.tick();
    expect(await cron.fires(), why).toEqual([]);
  };
  await nothing('made');
  await cron.patch(id, { active: false });
  cron.api.clock.to(at('2026-06-02T02:00:30Z'));
  await cron.patch(id, { active: true });
  await nothing('activated');
  await cron.patch(id, { cron_expression: '0 1 * * *' });
  cron.api.clock.to(at('2026-06-03T00:30:00Z'));
  await cron.patch(id, { cron_expression: '30 22 * * *' });
  cron.api.clock.to(at('2026-06-03T02:00:30Z'));
  await cron.patch(id, { cron_expression: '0 2 * * *' });
  await nothing('given this time');
  await cron.patch(id, { time_zone: 'Europe/Berlin' });
  await cron.api.send('DELETE', `${CONFIGS}${id}/`);
  cron.api.clock.to(at('2026-06-04T00:00:30Z'));
  await cron.api.post(`${CONFIGS}${id}/archive/`);
  cron.api.clock.forward(2 * MINUTE);
  await cron.tick();
  expect([await cron.fires(), (await cron.read(id)).archived], 'brought back').toEqual([[], false]);
  expect(minuteText((await cron.read(id)).next_fire_at)).toBe('2026-06-05T00:00Z');
});

test('a change of something else takes nothing away: the fire that was missed comes', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('0 2 * * *');
  cron.api.clock.to(at('2026-06-01T02:00:30Z'));
  await cron.patch(id, { enqueue_reason: 'as agreed', labels: { team: 'x' } });
  await cron.tick('2026-06-01T02:01:00Z');
  expect(await cron.lastFire(id)).toEqual(['2026-06-01T02:00Z', null]);
});

test('changed between fires: the old times do nothing any more, the new ones do', async () => {
  cron = await CronApi.start('2026-06-01T00:00:00Z');
  const id = await cron.made('0 * * * *');
  await cron.callAt(id, '2026-06-01T01:00:00Z');
  cron.api.clock.to(at('2026-06-01T01:40:00Z'));
  await cron.patch(id, { cron_expression: '30 * * * *' });
  expect(await cron.callAt(id, '2026-06-01T02:00:01Z'), 'a call on its way').toEqual({ fired: false, why: 'not_named' });
  await cron.tick('2026-06-01T02:05:00Z');
  await cron.callAt(id, '2026-06-01T02:30:00Z');
  expect(await cron.fires()).toEqual(['2026-06-01T01:00Z', '2026-06-01T02:30Z']);
});
