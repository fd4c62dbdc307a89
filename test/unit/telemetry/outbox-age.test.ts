import { expect, test } from 'vitest';
import type { OutboxStore, Waiting } from '../../../lib/app/notify/ports.ts';
import { outboxTick } from '../../../lib/app/notify/start-outbox.ts';
import { HOUR, MINUTE } from '../../../lib/domain/shared/time.ts';
import { HandClock } from '../../support/embedded.ts';

const clock = new HandClock();
const now = clock.now();

const waiting = (id: string, at: number, tries: number, next_try: number): Waiting => ({
  notice: { id, event: 'wave_blocked', at, subject: 'w', organization: null, text: '', data: {} },
  tries,
  next_try,
});

/** One tick over these notices: what it measures, and whether it calls for a delivery. */
async function tick(...all: Waiting[]) {
  const calls: unknown[] = [];
  const due = async (until: number, limit: number) => all.filter((w) => w.next_try <= until).slice(0, limit);
  const outbox = { due } as Pick<OutboxStore, 'due'> as OutboxStore;
  const gauges = await outboxTick({ clock, outbox, starter: { start: async (notices) => void calls.push(notices) } });
  return { ...gauges, calls };
}

test('an empty outbox has no age and calls nobody', async () => {
  expect(await tick()).toEqual({ OutboxAgeSeconds: 0, calls: [] });
});

test('the oldest counts, also while its next try is put off', async () => {
  expect(await tick(waiting('b', now - 2 * HOUR, 8, now + HOUR))).toEqual({ OutboxAgeSeconds: 7_200, calls: [] });
  const both = await tick(waiting('a', now - MINUTE, 0, now - MINUTE), waiting('b', now - 2 * HOUR, 8, now + HOUR));
  expect(both).toEqual({ OutboxAgeSeconds: 7_200, calls: [[]] });
});

test('a notice from a clock that runs ahead is not older than nothing', async () => {
  expect((await tick(waiting('a', now + MINUTE, 0, now + MINUTE))).OutboxAgeSeconds).toBe(0);
});
