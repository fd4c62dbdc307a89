import { describe, expect, test } from 'vitest';
import { engineWith, START, type Step } from '../support/workflow.ts';

const RUN = '0195a000-0000-7000-8000-00000000e001';
const NAME = `enqueue-${RUN}-g1`;
const page = (n: number) => ({ page: n, organization: null, from: null, to: null });
const counted = () => ({ enqueued: 1, skipped: 0, unchanged: 0 });
const pages =
  (...rounds: number[][]): Step =>
  (_, call) => ({ pages: (rounds[call] ?? []).map(page), max_concurrency: 2 });

async function run(steps: Parameters<typeof engineWith>[0], seconds = 0) {
  const world = engineWith({ 'wave-plan:Finish': () => ({ next: 'done' }), 'wave-end': () => ({ cause: 'recorded' }), ...steps });
  await world.engine.startEnqueue({ enqueue_run: RUN });
  const end = world.engine.ended(NAME);
  await world.clock.advance(START + seconds * 1_000);
  return { ...world, end: await end };
}

describe('enqueue.asl.json in the local engine', () => {
  test('plans pages, does each, and finishes', async () => {
    const world = await run({ 'enqueue-plan:PlanPages': pages([0, 1, 2]), 'enqueue-page': counted });
    expect(world.end).toMatchObject({ status: 'SUCCEEDED' });
    expect(world.steps()).toEqual(['enqueue-plan:PlanPages', 'enqueue-page', 'enqueue-page', 'enqueue-page', 'wave-plan:Finish']);
    expect(world.trace.map((entry) => entry.payload)).toEqual([
      { state: 'PlanPages', enqueue_run: RUN, execution: NAME },
      ...[0, 1, 2].map((n) => ({ enqueue_run: RUN, execution: NAME, page: page(n) })),
      { state: 'Finish', enqueue_run: RUN, execution: NAME },
    ]);
  });

  test('nothing to do is done', async () => {
    const world = await run({ 'enqueue-plan:PlanPages': pages([]) });
    expect(world.end).toMatchObject({ status: 'SUCCEEDED' });
    expect(world.steps()).toEqual(['enqueue-plan:PlanPages', 'wave-plan:Finish']);
  });

  test('more pages than one plan holds: planned again until there are none', async () => {
    const world = await run({
      'enqueue-plan:PlanPages': pages([0, 1], [2]),
      'enqueue-page': counted,
      'wave-plan:Finish': (_, call) => ({ next: call === 0 ? 'more' : 'done' }),
    });
    expect(world.end).toMatchObject({ status: 'SUCCEEDED' });
    expect(world.trace.filter((entry) => entry.step === 'enqueue-page').map((entry) => entry.payload['page'])).toEqual([
      page(0),
      page(1),
      page(2),
    ]);
  });

  test('a page that fails is done again; the others once', async () => {
    const failing: Step = ({ page: p }, call) => {
      if ((p as { page: number }).page === 1 && call < 3) throw new Error('away');
      return counted();
    };
    const world = await run({ 'enqueue-plan:PlanPages': pages([0, 1]), 'enqueue-page': failing }, 60);
    expect(world.end).toMatchObject({ status: 'SUCCEEDED' });
    const done = world.trace
      .filter((entry) => entry.step === 'enqueue-page')
      .map((entry) => (entry.payload['page'] as { page: number }).page);
    expect(done).toEqual([0, 1, 1, 1]);
  });

  test.each(['enqueue-plan:PlanPages', 'enqueue-page', 'wave-plan:Finish'])(
    '%s fails for good: recorded, and the watch hears of it',
    async (step) => {
      const fail = () => {
        throw new TypeError('broken');
      };
      const world = await run({ 'enqueue-plan:PlanPages': pages([0]), 'enqueue-page': counted, [step]: fail }, 61);
      expect(world.end).toEqual({ name: NAME, status: 'FAILED', error: 'CourierFailed', cause: 'recorded' });
      expect(world.trace.at(-1)?.payload).toMatchObject({ execution: NAME, failure: { Error: 'TypeError', Cause: 'broken' } });
      expect(world.ends).toMatchObject([{ name: NAME, status: 'FAILED' }]);
    },
  );
});
