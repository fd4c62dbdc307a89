import { describe, expect, test } from 'vitest';
import { batch, engineWith, ITEM, plan, resolved, START, type Step, WAVE } from '../support/workflow.ts';

const NAME = `wave-${WAVE}-g1`;
const dispatched = () => ({ dispatched: 1, refused: 0 });
/** Answers one after the other, the last one for ever. */
const inTurn =
  (...answers: unknown[]): Step =>
  (_, call) =>
    answers[Math.min(call, answers.length - 1)];

async function run(steps: Parameters<typeof engineWith>[0], seconds = 0) {
  const world = engineWith({ 'wave-plan:Resolve': resolved, 'wave-end': () => ({ cause: 'recorded' }), ...steps });
  await world.engine.startWave({ block_rollout: WAVE, generation: 1 });
  const end = world.engine.ended(NAME);
  await world.clock.advance(START + seconds * 1_000);
  return { ...world, end };
}

describe('wave.asl.json in the local engine', () => {
  test('happy: dispatches, waits for a wake, plans again and completes', async () => {
    const world = await run({
      'wave-plan:PlanWave': inTurn(plan('dispatch', { batches: [batch(ITEM), batch(ITEM)] }), plan('await'), plan('completed')),
      'wave-dispatch': dispatched,
      'wave-await': () => ({}),
    });
    expect(world.engine.running()).toEqual([NAME]);
    const token = world.trace.find((entry) => entry.step === 'wave-await')?.payload['token'];
    await world.engine.sendWake(String(token));
    expect(await world.end).toEqual({ name: NAME, status: 'SUCCEEDED', error: null, cause: null });
    expect(world.steps()).toEqual([
      'wave-plan:Resolve',
      'wave-plan:PlanWave',
      'wave-dispatch',
      'wave-dispatch',
      'wave-plan:PlanWave',
      'wave-await',
      'wave-plan:PlanWave',
    ]);
    expect(world.ends).toEqual([]);
    expect(world.executions.rows.size).toBe(0);
  });

  test('each step gets the ids and the execution; the plan gets back where it stood and the hash of the definition', async () => {
    const world = await run({
      'wave-plan:PlanWave': inTurn(plan('dispatch', { batches: [batch(ITEM)], turn: 7, events: 99 }), plan('completed')),
      'wave-dispatch': dispatched,
    });
    const [resolve, first, dispatch, second] = world.trace.map((entry) => entry.payload);
    expect(resolve).toEqual({ state: 'Resolve', input: { block_rollout: WAVE, generation: 1 }, execution: NAME });
    expect(first).toEqual({
      state: 'PlanWave',
      block_rollout: WAVE,
      generation: 1,
      turn: 0,
      events: 0,
      execution: NAME,
      definition: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(dispatch).toEqual({ block_rollout: WAVE, generation: 1, execution: NAME, batch: batch(ITEM) });
    expect(second).toMatchObject({ turn: 7, events: 99 });
  });

  test('blocked: the execution fails as WaveBlocked with the numbers, and the watch hears of it', async () => {
    const world = await run({ 'wave-plan:PlanWave': () => plan('blocked', { cause: '3 of 10 items failed; 20 % are allowed.' }) });
    expect(await world.end).toEqual({
      name: NAME,
      status: 'FAILED',
      error: 'WaveBlocked',
      cause: '3 of 10 items failed; 20 % are allowed.',
    });
    expect(world.ends).toMatchObject([{ name: NAME, status: 'FAILED', error: 'WaveBlocked' }]);
  });

  test('paused in the middle: waits without cost, and goes on when it is woken', async () => {
    const world = await run(
      { 'wave-plan:PlanWave': inTurn(plan('await', { wait_seconds: 86_400 }), plan('completed')), 'wave-await': () => ({}) },
      80_000,
    );
    expect(world.engine.running()).toEqual([NAME]);
    await world.engine.sendWake(String(world.trace.at(-1)?.payload['token']));
    expect(await world.end).toMatchObject({ status: 'SUCCEEDED' });
  });

  test('a token that nobody returns: times out at exactly wait_seconds and plans again', async () => {
    const world = await run(
      { 'wave-plan:PlanWave': inTurn(plan('await', { wait_seconds: 90 }), plan('completed')), 'wave-await': () => ({}) },
      89,
    );
    expect(world.steps().at(-1)).toBe('wave-await');
    await world.clock.advance(START + 90_000);
    expect(await world.end).toMatchObject({ status: 'SUCCEEDED' });
    expect(world.trace.at(-1)).toMatchObject({ step: 'wave-plan:PlanWave', at: 90_000 });
  });

  test('a token that comes back while its function still runs is not lost', async () => {
    const world = engineWith({
      'wave-plan:Resolve': resolved,
      'wave-plan:PlanWave': inTurn(plan('await'), plan('completed')),
      'wave-await': (payload) => world.engine.sendWake(String(payload['token'])),
    });
    await world.engine.startWave({ block_rollout: WAVE, generation: 1 });
    expect(await world.engine.ended(NAME)).toMatchObject({ status: 'SUCCEEDED' });
  });

  test('a late or invented token wakes nobody', async () => {
    const world = await run({ 'wave-plan:PlanWave': () => plan('await'), 'wave-await': () => ({}) });
    await world.engine.sendWake('no such token');
    await world.clock.advance(START + 59_000);
    expect(world.steps().filter((step) => step === 'wave-plan:PlanWave')).toHaveLength(1);
  });

  test('a failing step is tried again after 1, 2, 4, 8, 16 and 30 s, then it goes on', async () => {
    const failing: Step = (_, call) => {
      if (call < 6) throw new Error('the table is away');
      return plan('completed');
    };
    const world = await run({ 'wave-plan:PlanWave': failing }, 61);
    expect(await world.end).toMatchObject({ status: 'SUCCEEDED' });
    const times = world.trace.filter((entry) => entry.step === 'wave-plan:PlanWave').map((entry) => entry.at / 1_000);
    expect(times).toEqual([0, 1, 3, 7, 15, 31, 61]);
  });

  test.each(['wave-plan:Resolve', 'wave-plan:PlanWave', 'wave-dispatch', 'wave-await', 'wave-plan:ContinueAsNew'])(
    'catch: %s fails for good, the reason is recorded and the execution fails as CourierFailed',
    async (step) => {
      const next = {
        'wave-dispatch': plan('dispatch', { batches: [batch(ITEM)] }),
        'wave-await': plan('await'),
        'wave-plan:ContinueAsNew': plan('continue'),
      }[step];
      const fail = () => {
        throw new TypeError('broken');
      };
      const world = await run({ 'wave-plan:PlanWave': () => next ?? plan('completed'), [step]: fail }, 61);
      expect(await world.end).toEqual({ name: NAME, status: 'FAILED', error: 'CourierFailed', cause: 'recorded' });
      expect(world.trace.at(-1)?.payload).toEqual({
        execution: NAME,
        input: { block_rollout: WAVE, generation: 1 },
        failure: { Error: 'TypeError', Cause: 'broken' },
      });
      expect(world.ends).toMatchObject([{ status: 'FAILED', error: 'CourierFailed' }]);
    },
  );

  test('not even the failure can be recorded: the execution still ends as failed', async () => {
    const fail = () => {
      throw new Error('broken');
    };
    const world = await run({ 'wave-plan:PlanWave': fail, 'wave-end': fail }, 130);
    expect(await world.end).toMatchObject({ status: 'FAILED', error: 'CourierFailed' });
  });

  test.each([
    ['cancelled', 'wave-plan:PlanWave'],
    ['taken_over', 'wave-plan:PlanWave'],
    ['completed', 'wave-plan:PlanWave'],
  ])('%s ends the execution well', async (next, last) => {
    const world = await run({ 'wave-plan:PlanWave': () => plan(next) });
    expect(await world.end).toMatchObject({ status: 'SUCCEEDED' });
    expect(world.steps().at(-1)).toBe(last);
    expect(world.ends).toEqual([]);
  });

  test('continue as new: the next generation is started and this one ends well', async () => {
    const world = await run({ 'wave-plan:PlanWave': () => plan('continue'), 'wave-plan:ContinueAsNew': () => ({ generation: 2 }) });
    expect(await world.end).toMatchObject({ status: 'SUCCEEDED' });
    expect(world.trace.at(-1)?.payload).toEqual({ state: 'ContinueAsNew', block_rollout: WAVE, generation: 1, execution: NAME });
  });

  test.each([
    [{ next: 'started_others', waves: [WAVE] }, 'SUCCEEDED', null],
    [{ next: 'enqueued', enqueue_run: 'ab12' }, 'SUCCEEDED', null],
    [{ next: 'invalid', cause: 'No wave has the id "x".' }, 'FAILED', 'No wave has the id "x".'],
  ])('console: an answer of Resolve other than a wave ends it: %j', async (answer, status, cause) => {
    const world = await run({ 'wave-plan:Resolve': () => answer });
    expect(await world.end).toMatchObject({ status, cause });
  });

  test.each([
    ['{}', {}],
    ['a text', 'rollout of today'],
    ['a list', [1, 2]],
    ['null', null],
    ['a number', 7],
  ])('console: %s as input reaches Resolve as it was typed, whatever name the console gave', async (_, input) => {
    const world = engineWith({ 'wave-plan:Resolve': () => ({ next: 'invalid', cause: 'c' }) });
    await world.engine.start('wave', 'd0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f', input);
    await world.engine.ended('d0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f');
    expect(world.trace[0]?.payload).toEqual({ state: 'Resolve', input, execution: 'd0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f' });
  });

  test('no more batches at once than the plan says', async () => {
    let open = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return dispatched();
    };
    const batches = Array.from({ length: 12 }, () => batch(ITEM));
    const world = await run({
      'wave-plan:PlanWave': inTurn(plan('dispatch', { batches, max_concurrency: 3 }), plan('completed')),
      'wave-dispatch': slow,
    });
    await world.end;
    expect(most).toBe(3);
  });
});

describe('executions', () => {
  test('a name is good for one execution: the same start while it runs, "exists" once it is closed', async () => {
    const world = await run({ 'wave-plan:PlanWave': inTurn(plan('await'), plan('completed')), 'wave-await': () => ({}) });
    expect(await world.engine.startWave({ block_rollout: WAVE, generation: 1 })).toBe('started');
    expect(await world.engine.start('wave', NAME, { other: true })).toBe('exists');
    expect(world.trace.filter((entry) => entry.step === 'wave-plan:Resolve')).toHaveLength(1);
    await world.clock.advance(START + 60_000);
    await world.end;
    expect(await world.engine.startWave({ block_rollout: WAVE, generation: 1 })).toBe('exists');
    expect(await world.engine.startWave({ block_rollout: WAVE, generation: 2 })).toBe('started');
  });

  test('stop drops what waits, keeps its row, and the next boot reports it as aborted', async () => {
    const world = await run({ 'wave-plan:PlanWave': () => plan('await'), 'wave-await': () => ({}) });
    await world.engine.stop();
    expect(world.steps()).toEqual(['wave-plan:Resolve', 'wave-plan:PlanWave', 'wave-await']);
    expect(world.ends).toEqual([]);
    const next = engineWith({}, [...world.executions.rows.values()]);
    expect(await next.engine.reportAborted()).toBe(1);
    expect(next.ends).toMatchObject([{ name: NAME, status: 'ABORTED' }]);
    expect(next.executions.rows.size).toBe(0);
    expect(await next.engine.startWave({ block_rollout: WAVE, generation: 1 })).toBe('exists');
  });

  test('stop waits for a step that runs', async () => {
    const step = Promise.withResolvers<unknown>();
    const world = engineWith({ 'wave-plan:Resolve': () => step.promise });
    await world.engine.startWave({ block_rollout: WAVE, generation: 1 });
    let stopped = false;
    const stopping = world.engine.stop().then(() => {
      stopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).toBe(false);
    step.resolve(resolved());
    await stopping;
    expect(world.steps()).toEqual(['wave-plan:Resolve']);
  });
});
