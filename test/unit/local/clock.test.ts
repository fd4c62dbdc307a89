import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Activity } from '../../../local/activity.ts';
import { VirtualClock } from '../../../local/clock.ts';

const START = Date.UTC(2026, 2, 1);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function world() {
  const activity = new Activity();
  return { activity, clock: new VirtualClock(START, activity) };
}

describe('VirtualClock', () => {
  test('stands still until it is moved', async () => {
    const { clock } = world();
    await turn();
    expect(clock.now()).toBe(START);
    await clock.advance(START + 5);
    expect(clock.now()).toBe(START + 5);
  });

  test('a time that has come resolves at once, the very instant included', async () => {
    const { clock } = world();
    await clock.until(START - 1);
    await clock.until(START);
    let late = false;
    void clock.until(START + 1).then(() => {
      late = true;
    });
    await turn();
    expect(late).toBe(false);
    await clock.advance(START + 1);
    expect(late).toBe(true);
  });

  test('fires in the order of time, each at its own time, and those of one instant in the order asked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 20 }), async (delays) => {
        const { clock } = world();
        const fired: { index: number; delay: number }[] = [];
        delays.forEach((delay, index) => {
          void clock.until(START + delay).then(() => {
            expect(clock.now()).toBe(START + delay);
            fired.push({ index, delay });
          });
        });
        await clock.advance(START + 50);
        const wanted = delays.map((delay, index) => ({ index, delay })).sort((a, b) => a.delay - b.delay || a.index - b.index);
        expect(fired).toEqual(wanted);
      }),
    );
  });

  test('timers that are set by what a timer starts fire in the same move, at their own time', async () => {
    const { clock, activity } = world();
    const seen: number[] = [];
    const chain = async (left: number): Promise<void> => {
      await clock.until(clock.now() + 60_000);
      await activity.run(async () => {
        await turn();
        await turn();
        seen.push((clock.now() - START) / 60_000);
      });
      if (left > 1) await chain(left - 1);
    };
    void chain(5);
    await clock.advance(START + 4 * 60_000);
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test('waits for what is being done before time goes on', async () => {
    const { clock, activity } = world();
    const end = activity.begin();
    let moved = false;
    const move = clock.advance(START + 10).then(() => {
      moved = true;
    });
    for (let i = 0; i < 20; i++) await turn();
    expect(moved).toBe(false);
    expect(clock.now()).toBe(START);
    end();
    await move;
    expect(clock.now()).toBe(START + 10);
  });

  test('refuses to go back, and moves on afterwards', async () => {
    const { clock } = world();
    await expect(clock.advance(START - 1)).rejects.toThrow('cannot go back from 2026-03-01T00:00:00.000Z to 2026-02-28T23:59:59.999Z');
    await clock.advance(START);
    await clock.advance(START + 1);
    expect(clock.now()).toBe(START + 1);
  });

  test('two moves at once are done one after the other', async () => {
    const { clock } = world();
    await Promise.all([clock.advance(START + 10), clock.advance(START + 20)]);
    expect(clock.now()).toBe(START + 20);
    await Promise.all([
      clock.advance(START + 40),
      clock.advance(START + 30).catch((error: Error) => expect(error).toBeInstanceOf(RangeError)),
    ]);
    expect(clock.now()).toBe(START + 40);
  });

  test('an aborted wait rejects with the reason and never fires', async () => {
    const { clock } = world();
    const stop = new AbortController();
    const waits = Promise.allSettled([clock.until(START + 5), clock.until(START + 5, stop.signal), clock.until(START + 5)]);
    stop.abort(new Error('enough'));
    await clock.advance(START + 5);
    expect((await waits).map((wait) => wait.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(clock.until(START + 9, stop.signal)).rejects.toThrow('enough');
  });
});

describe('Activity', () => {
  test('ending twice is ending once', async () => {
    const { activity } = world();
    const first = activity.begin();
    const second = activity.begin();
    first();
    first();
    let idle = false;
    const waiting = activity.idle().then(() => {
      idle = true;
    });
    for (let i = 0; i < 5; i++) await turn();
    expect(idle).toBe(false);
    second();
    await waiting;
  });

  test('what begins again right after an end keeps it busy', async () => {
    const { activity } = world();
    const log: string[] = [];
    const end = activity.begin();
    const waiting = activity.idle().then(() => log.push('idle'));
    end();
    void turn().then(() =>
      activity.run(async () => {
        for (let i = 0; i < 5; i++) await turn();
        log.push('done');
      }),
    );
    await waiting;
    expect(log).toEqual(['done', 'idle']);
  });

  test('a failure ends it too', async () => {
    const { activity } = world();
    await expect(
      activity.run(() => {
        throw new Error('x');
      }),
    ).rejects.toThrow('x');
    await activity.idle();
  });
});
