import { afterEach, expect, test } from 'vitest';
import { derivedId } from '../../lib/app/derived-ids.ts';
import { endAttempt } from '../../lib/app/engine/end-attempt.ts';
import { createManualItem } from '../../lib/app/engine/manual-item.ts';
import { AppError } from '../../lib/app/errors.ts';
import { waveExecutionName } from '../../lib/contracts/workflow/names.ts';
import { OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import type { Wave } from '../../lib/domain/shared/rollout.ts';
import { localContext } from '../../local/lambda.ts';
import { Console } from '../support/console.ts';
import { seeded } from '../support/faults.ts';
import { Invariants } from '../support/invariants.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

async function fleet(n: number, percentage: number, { maxRetries = 0, tickMs = 60_000 } = {}): Promise<void> {
  world = await World.start({ tickMs });
  await world.plainRules();
  await world.config({ max_retries: maxRetries, retry_base_seconds: 10 });
  await world.addClusters(names(n));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: percentage });
}

const NO_LOGS = { stdout: null, stderr: null };
const result = (exit_code: number) => ({ ...NO_LOGS, exit_code, cancelled: false, finished_at: null });

/** The first host that was given something, with the id of its run; it did not claim it. */
async function given() {
  for (const host of world.hosts.values()) {
    const [run] = (await host.report()).action_runs;
    if (run !== undefined) return { host, call: host.call(run.id) };
  }
  throw new Error('nobody was given anything');
}

const ended = (waves: readonly Wave[]): boolean => waves.length > 0 && waves.every((wave) => wave.status === 'completed');

/** Plays to the end; something is done before each step and the invariants are looked at after it. */
async function playOut(maxRetries: number, gate: number, meanwhile: () => Promise<unknown>): Promise<Wave> {
  const invariants = new Invariants(world, () => gate);
  await world.until(async () => {
    await meanwhile();
    await world.settle();
    await invariants.check(maxRetries);
    return ended(await world.waves());
  });
  const waves = await world.waves();
  expect(waves).toHaveLength(1);
  return world.wave();
}

test('a finish before the claim is refused, and the run waits as before', async () => {
  await fleet(1, 100);
  const { host, call } = await given();
  await expect(world.agents.finishRun({ ...call, ...result(0) })).rejects.toMatchObject({ kind: 'conflict' });
  expect((await host.report()).action_runs.map((run) => run.id)).toEqual([call.run]);
  expect(line(await world.wave())).toBe('1 = 0+1+0+0+0');
  await playOut(0, 1, () => Promise.resolve());
  expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  expect(host.executed).toEqual([call.run]);
});

test('a failure that is told five times at once costs one try and is counted once', async () => {
  await fleet(1, 100, { maxRetries: 1 });
  const { host, call } = await given();
  await Promise.all([1, 2, 3].map(() => world.agents.claimRun(call)));
  await Promise.all([1, 2, 3, 4, 5].map(() => world.patient(() => world.agents.finishRun({ ...call, ...result(1) }))));
  const [item] = await world.items((await world.wave()).id);
  expect([item?.status, item?.tries, item?.attempts]).toEqual(['retrying', 1, [call.run]]);
  host.behaviour.exit = () => 1;
  await playOut(1, 1, () => Promise.resolve());
  expect(line(await world.wave())).toBe('1 = 0+0+0+1+0');
});

test('of two different results at once one counts, and the other gets the run as it is', async () => {
  await fleet(1, 100, { maxRetries: 1 });
  const { call } = await given();
  await world.agents.claimRun(call);
  const answers = await Promise.all([0, 1, 0, 1].map((exit) => world.patient(() => world.agents.finishRun({ ...call, ...result(exit) }))));
  const [run] = (await world.services.engine.runs([call.run])).values();
  expect(run?.exit_code === 0 || run?.exit_code === 1).toBe(true);
  for (const answer of answers) expect(answer.exit_code).toBe(run?.exit_code);
  await playOut(1, 1, () => Promise.resolve());
  expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
});

test('messages of an old attempt change nothing while the next one runs, nor after the end', async () => {
  await fleet(1, 100, { maxRetries: 1 });
  const { host, call } = await given();
  await world.agents.claimRun(call);
  const first = await world.agents.finishRun({ ...call, ...result(1) });
  await world.advance(30);
  const late = () => [
    world.agents.finishRun({ ...call, ...result(0) }),
    world.agents.claimRun(call).then(({ run }) => run),
    world.agents.reportProgress({ ...call, stdout: 'late', stderr: null }),
    world.agents.finishRun({ ...call, ...NO_LOGS, exit_code: null, cancelled: true, finished_at: null }),
  ];
  const unchanged = async () => {
    for (const answer of await Promise.all(late())) expect(answer).toEqual(first);
  };
  await unchanged();
  expect(line(await world.wave())).toBe('1 = 0+1+0+0+0');
  await playOut(1, 1, unchanged);
  expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  await unchanged();
  expect(host.executed).toHaveLength(1);
});

/** Every message is sent twice at once, and those about runs come again later, in any order. */
function echo(random: () => number): () => Promise<void> {
  const { agents } = world;
  const sent: (() => Promise<unknown>)[] = [];
  const twice =
    <I, O>(call: (input: I) => Promise<O>, again: boolean) =>
    async (input: I): Promise<O> => {
      if (again) sent.push(() => call(input));
      const [answer] = await Promise.all([call(input), call(input)]);
      return answer;
    };
  world.agents = {
    ...agents,
    recordHeartbeat: twice(agents.recordHeartbeat, false),
    claimRun: twice(agents.claimRun, true),
    finishRun: twice(agents.finishRun, true),
  };
  return async () => {
    const some = sent.filter(() => random() < 0.5).sort(() => random() - 0.5);
    await Promise.allSettled(some.map((call) => call()));
  };
}

test.each([1, 2, 3, 4, 5])('doubled, late and reordered messages of a whole fleet change nothing (seed %i)', async (seed) => {
  await fleet(5, 50, { maxRetries: 1 });
  world.host('c1').behaviour.exit = () => 1;
  world.host('c2').behaviour.exit = (attempt) => (attempt === 1 ? 1 : 0);
  const wave = await playOut(1, 2, echo(seeded(seed)));
  expect(line(wave)).toBe('5 = 4+0+0+1+0');
  expect([...world.hosts.values()].map((host) => host.executed.length)).toEqual([2, 2, 1, 1, 1]);
});

test('three drivers of one wave at once: one goes on, the others find it taken over', async () => {
  // A day passes at its end: what is shown here owes nothing to the tick.
  await fleet(6, 34, { tickMs: 900_000 });
  const { engine } = world.runtime;
  const ends: Promise<{ readonly status: string } | null>[] = [];
  const wave = await playOut(0, 2, async () => {
    const { id, generation, status } = await world.wave();
    if (status !== 'active') return;
    const generations = [1, 2, 3].map((n) => generation + n);
    await Promise.all(generations.map((g) => engine.startWave({ block_rollout: id, generation: g })));
    ends.push(...generations.map((g) => engine.ended(waveExecutionName(id, g))));
    await world.settle();
    const { driver } = await world.wave();
    expect(driver === null || engine.running().includes(driver), 'the wave knows a driver that is there').toBe(true);
  });
  expect(line(wave)).toBe('6 = 6+0+0+0+0');
  // One that waited when it was replaced finds that out when its wait is over.
  await world.advance(24 * 3600);
  expect(engine.running().filter((name) => name.startsWith('wave-'))).toEqual([]);
  for (const end of await Promise.all(ends)) expect(end?.status ?? 'SUCCEEDED', 'TakenOver is a success').toBe('SUCCEEDED');
  for (const host of world.hosts.values()) expect(host.executed).toHaveLength(1);
});

test('a claim at the moment at which the run is withdrawn: either it runs, or it is given out again, never both', async () => {
  await fleet(1, 100);
  const { host, call } = await given();
  const [run] = (await world.services.engine.runs([call.run])).values();
  const claimed = await world.agents.claimRun(call);
  expect(claimed.run.phase).toBe('executing');
  // The sweep had read the run before the claim.
  if (run === undefined) throw new Error('no run');
  const swept = await endAttempt(world.services, { run_id: run.id, attempt: run.attempt, run, outcome: { kind: 'withdrawn' } });
  expect([swept.changed, swept.run.phase]).toEqual([false, 'executing']);
  await playOut(0, 1, () => Promise.resolve());
  expect(host.executed).toEqual([call.run]);
});

test('an execution with a name of its own, started by hand beside the driver, breaks no limit', async () => {
  await fleet(6, 34);
  let n = 0;
  const wave = await playOut(0, 2, async () => {
    const { id } = await world.wave();
    for (let i = 0; i < 2; i++) await world.runtime.engine.start('wave', `by-hand-${++n}`, { block_rollout: id });
  });
  expect(line(wave)).toBe('6 = 6+0+0+0+0');
});

test('ticks that come three at a time and executions that are started again change nothing', async () => {
  await fleet(5, 50, { maxRetries: 1 });
  const { engine, functions } = world.runtime;
  world.host('c1').behaviour.exit = () => 1;
  const tick = () => functions.tick({}, localContext('tick', world.services.ids.fresh()));
  const again = async () => {
    const { id, generation } = await world.wave();
    if (!engine.running().includes(waveExecutionName(id, generation))) return;
    expect(await engine.startWave({ block_rollout: id, generation })).toBe('started');
  };
  const wave = await playOut(1, 2, () => Promise.all([tick(), again(), tick(), again(), tick()]));
  expect(line(wave)).toBe('5 = 4+0+0+1+0');
  expect([...world.hosts.values()].map((host) => host.executed.length)).toEqual([2, 1, 1, 1, 1]);
});

/** One cluster at the target, whose block nobody has work for. */
async function quiet(): Promise<string> {
  await fleet(1, 100);
  await world.until(async () => ended(await world.waves()));
  return derivedId.block(world.services.ids, world.host('c1').id, OPERATOR_BLOCK);
}

test('fifty parallel requests for one block make one item', async () => {
  const block = await quiet();
  const request = { block, action_name: 'install', reason: null, allow_downgrade: false };
  const answers = await Promise.allSettled(
    Array.from({ length: 50 }, () => world.patient(() => createManualItem(world.services, request, 'me'))),
  );
  const made = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.id] : []));
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  expect(made).toHaveLength(1);
  for (const reason of refused) {
    expect(reason).toBeInstanceOf(AppError);
    expect(reason).toMatchObject({ kind: 'conflict', conflict: { id: made[0] } });
  }
  // The wave that was made is being driven by now.
  await world.settle();
  await new Invariants(world).check(0);
  expect(await world.waves()).toHaveLength(2);
});

test('fifty parallel POSTs for one block make one item, and every 409 names it', async () => {
  const block = await quiet();
  const admin = await Console.open(world);
  const answers = await Promise.all(Array.from({ length: 50 }, () => admin.send('POST', 'block-rollout-items/', { block })));
  const made = answers.filter(({ status }) => status === 201);
  expect(made).toHaveLength(1);
  const refused = answers.filter(({ status }) => status !== 201);
  for (const { status, body } of refused) expect([status, body.conflict?.id]).toEqual([409, made[0]?.body.id]);
  // The wave that was made is being driven by now.
  await world.settle();
  await new Invariants(world).check(0);
  expect(await world.waves()).toHaveLength(2);
});
