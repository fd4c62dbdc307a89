import { expect, test } from 'vitest';
import { Activity } from '../../../local/activity.ts';
import { VirtualClock } from '../../../local/clock.ts';
import { clockRoute } from '../../../local/clock-route.ts';

const START = Date.UTC(2026, 2, 1);
const call = (clock: VirtualClock, method: string, body: unknown = '') =>
  clockRoute(clock, { method, body: async () => (typeof body === 'string' ? body : JSON.stringify(body)) });
const newClock = () => new VirtualClock(START, new Activity());

test('reads and moves the clock', async () => {
  const clock = newClock();
  expect(await call(clock, 'GET')).toEqual({ status: 200, body: { now: '2026-03-01T00:00:00.000Z' } });
  expect(await call(clock, 'POST', { advance_seconds: 90 })).toEqual({ status: 200, body: { now: '2026-03-01T00:01:30.000Z' } });
  expect(await call(clock, 'POST', { advance_seconds: 0.5 })).toMatchObject({ body: { now: '2026-03-01T00:01:30.500Z' } });
  expect(await call(clock, 'POST', { advance_seconds: 0 })).toMatchObject({ status: 200 });
  expect(await call(clock, 'POST', { set: '2026-03-02T01:00:00+01:00' })).toMatchObject({ body: { now: '2026-03-02T00:00:00.000Z' } });
});

test('two moves at once add up', async () => {
  const clock = newClock();
  const answers = await Promise.all([60, 90].map((advance_seconds) => call(clock, 'POST', { advance_seconds })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(clock.now()).toBe(START + 150_000);
});

test('backwards is 400 and changes nothing', async () => {
  const clock = newClock();
  const answer = await call(clock, 'POST', { set: '2026-02-28T00:00:00Z' });
  expect(answer).toMatchObject({ status: 400, body: { type: 'validation_error', errors: [{ attr: 'set' }] } });
  expect(clock.now()).toBe(START);
});

test.each([
  '',
  'now',
  '[]',
  'null',
  '{}',
  '{"advance_seconds": -1}',
  '{"advance_seconds": "60"}',
  '{"advance_seconds": 1e12}',
  '{"advance_seconds": null}',
  '{"set": "2026-03-02"}',
  '{"set": 1772409600000}',
  '{"set": "2026-03-02T00:00:00"}',
  '{"set": "2026-03-02T00:00:00Z", "advance_seconds": 1}',
  '{"advance_second": 1}',
])('%s is 400 with what is expected', async (body) => {
  const clock = newClock();
  expect(await call(clock, 'POST', body)).toMatchObject({
    status: 400,
    body: { errors: [{ detail: expect.stringContaining('advance_seconds') }] },
  });
  expect(clock.now()).toBe(START);
});

test('other methods are 405', async () => {
  expect(await call(newClock(), 'DELETE')).toMatchObject({ status: 405 });
});
