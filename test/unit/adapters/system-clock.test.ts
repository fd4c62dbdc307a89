import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SystemClock } from '../../../lib/adapters/system/clock.ts';

const START = Date.UTC(2026, 2, 1);
const DAY = 86_400_000;
beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

test('waits longer than a timer of Node can (24.8 days) end at their time, neither at once nor late', async () => {
  const clock = new SystemClock();
  let done = false;
  void clock.until(START + 60 * DAY).then(() => {
    done = true;
  });
  await vi.advanceTimersByTimeAsync(60 * DAY - 1);
  expect(done).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toBe(true);
});

test('an abort ends the wait with its reason and leaves no timer', async () => {
  const stop = new AbortController();
  const wait = expect(new SystemClock().until(START + DAY, stop.signal)).rejects.toThrow('enough');
  stop.abort(new Error('enough'));
  await wait;
  expect(vi.getTimerCount()).toBe(0);
  await expect(new SystemClock().until(START - 1, stop.signal)).rejects.toThrow('enough');
});

test('the past is now', async () => {
  await new SystemClock().until(START);
  expect(vi.getTimerCount()).toBe(0);
});
