import { afterEach, describe, expect, test } from 'vitest';
import { busy, Console, dashboard, end, runsOf } from '../support/console.ts';
import { Tamper, type Transaction } from '../support/tamper.ts';
import { line, names, World } from '../support/world.ts';

let world: World;
afterEach(() => world.stop());

async function fleet(n: number, tamper = new Tamper()): Promise<Tamper> {
  world = await World.start({ between: tamper.wrap });
  await world.plainRules();
  await world.addClusters(names(n));
  await world.turns();
  return tamper;
}
const starts = ({ puts }: Transaction): boolean => puts.some((row) => row['entity'] === 'run' && (row['phase'] ?? 'queued') === 'queued');
const ends = ({ puts }: Transaction): boolean => puts.some((row) => row['entity'] === 'run' && row['phase'] === 'ended');

test.each(['died before', 'lost'] as const)('B17 a dispatcher that dies at both places (%s) pins none of them', async (fate) => {
  const tamper = await fleet(20);
  let deaths = 0;
  tamper.decide = (transaction) => (starts(transaction) && deaths++ < 2 ? fate : 'as usual');
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 10 });
  await world.until(async () => {
    const wave = await world.wave();
    expect(wave.counters.in_progress).toBeLessThanOrEqual(2);
    return wave.status === 'completed';
  });
  expect(deaths).toBeGreaterThanOrEqual(2);
  expect(line(await world.wave())).toBe('20 = 20+0+0+0+0');
  expect([...world.hosts.values()].map((host) => host.executed.length)).toEqual(Array(20).fill(1));
});

describe('B50 three answers of the table', () => {
  test('B50 a hundred results within a second are a hundred', async () => {
    await fleet(100);
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const hosts = await busy(world);
    expect(hosts).toHaveLength(100);
    await Promise.all(hosts.map((host) => Promise.all([...host.work.values()].map((work) => host.finish(work)))));
    await world.settle();
    const wave = await world.wave();
    expect([line(wave), wave.status]).toEqual(['100 = 100+0+0+0+0', 'completed']);
  });

  test.each([
    ['(a) a conflict, twice', 'conflict', 2],
    ['(c) throttling', 'throttled', 3],
  ] as const)('B50 %s: repeated inside, one completion', async (_, fate, times) => {
    const tamper = await fleet(1);
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const [host] = await busy(world);
    if (host === undefined) throw new Error('nobody works');
    let left = times;
    tamper.decide = (transaction) => (ends(transaction) && left-- > 0 ? fate : 'as usual');
    await end(host, 0);
    expect(left).toBeLessThan(1);
    expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  });

  test('B50 (b) a result for what is over is a duplicate, not an error', async () => {
    await fleet(1);
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const [host] = await busy(world);
    const [work] = host?.work.values() ?? [];
    if (host === undefined || work === undefined) throw new Error('nobody works');
    await host.finish(work);
    await host.finish(work);
    await world.settle();
    expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  });
});

/** The case says 3,000, which takes minutes: `B52_CLUSTERS=3000 npx vitest run test/scenarios/storage.test.ts -t B52`. */
const B52 = Number(process.env['B52_CLUSTERS'] ?? 40);

describe('B51 refused batches', () => {
  const bears = ({ puts }: Transaction): boolean => puts.some((row) => row['entity'] === 'item' && row['version'] === 1);

  test('B51 what the store leaves the first time is written again', async () => {
    const tamper = await fleet(120);
    let batch = 0;
    tamper.decide = (transaction) => (bears(transaction) && batch++ % 2 === 0 ? 'throttled' : 'as usual');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 0 });
    expect(batch).toBeGreaterThanOrEqual(8);
    const wave = await world.wave();
    expect(line(wave)).toBe('120 = 0+0+120+0+0');
    expect(new Set((await world.items(wave.id)).map((item) => item.block)).size).toBe(120);
  });

  test('B51 while it keeps refusing nothing starts, and later the rest is added', async () => {
    const tamper = await fleet(120);
    let born = 0;
    tamper.decide = (transaction) => (bears(transaction) && born++ >= 2 ? 'died before' : 'as usual');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const wave = await world.wave();
    expect([wave.counters.total < 120, wave.counters.in_progress, wave.enqueue_runs.length]).toEqual([true, 0, 1]);
    tamper.decide = () => 'as usual';
    await world.until(async () => (await world.wave()).counters.total === 120, 3_600_000, 60);
    expect((await world.waves()).map((w) => w.counters.total)).toEqual([120]);
  });
});

test(`B52 a wave of ${B52} with configs runs to its end while a third of the writes is throttled`, async () => {
  world = await World.start({ seed: 52, shares: { conflict: 0, throttle: 0.3, lostAnswer: 0, indexLag: 0 } });
  await world.plainRules();
  await world.config({ block_config_template: `note: ${'x'.repeat(300)}\n` });
  await world.addClusters(names(B52));
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.until(async () => (await world.wave()).status === 'completed', 3_600_000, 30);
  expect((await world.waves()).map(line)).toEqual([`${B52} = ${B52}+0+0+0+0`]);
}, 600_000);

test('B52 an error text of 1 MB fails its item with a shortened text', async () => {
  await fleet(1);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  const [host] = await busy(world);
  const [work] = host?.work.values() ?? [];
  if (host === undefined || work === undefined) throw new Error('nobody works');
  const stderr = `${'x'.repeat(1_000_000)} the end`;
  const answer = await fetch(`${world.runtime.baseUrl}/api/v1/agent/action-runs/${work.run}/finish/`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.token(host.workspace)}`,
      'content-type': 'application/json',
      'x-cluster-uid': host.uid,
      'x-agent-id': 'operator',
    },
    body: JSON.stringify({ exit_code: 1, stdout: '', stderr }),
  });
  expect([answer.status, (await answer.text()).slice(0, 300)]).toEqual([200, expect.anything()]);
  await world.settle();
  expect(line(await world.wave())).toBe('1 = 0+0+0+1+0');
  const shown = await (await Console.open(world)).get(`action-runs/${work.run}/`);
  expect(shown.log_stderr.length).toBeLessThanOrEqual(65_536);
  expect(shown.log_stderr.endsWith(' the end')).toBe(true);
});

test('B53 what has expired counts no more, although its row is still there', async () => {
  await fleet(1);
  const admin = await Console.open(world);
  const host = world.host('c1');
  const soon = new Date(world.now() + 60_000).toISOString();
  const { key } = await admin.post('agent-keys/', { name: 'short', workspace: host.workspace, expires_at: soon });
  const report = { kind: 'operator' as const, reported_agent_id: 'operator', cluster: { uid: host.uid, name: host.name } };
  await world.agents.recordHeartbeat({ token: key, report });
  await world.advance(300);
  await expect(world.agents.recordHeartbeat({ token: key, report })).rejects.toThrow('expired');
  const { rows } = await dashboard(world);
  expect(rows.map((row) => row.state)).toEqual(['CRITICAL']);
});

test('B53 of two that claim one run at the same moment one gets it', async () => {
  await fleet(1);
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  const host = world.host('c1');
  const [run] = (await host.report()).action_runs;
  const claims = await Promise.allSettled(
    ['one', 'two'].map((uid) => world.agents.claimRun({ ...host.call(run?.id ?? ''), cluster_uid: uid === 'one' ? host.uid : 'another' })),
  );
  expect(claims.map((claim) => claim.status)).toEqual(['fulfilled', 'rejected']);
  expect(await runsOf(world, await world.items((await world.wave()).id))).toHaveLength(1);
});

test('B54 names with separators stay apart, and prod-1 is not prod-10', async () => {
  world = await World.start();
  await world.plainRules();
  const [a, b] = await world.addClusters([
    { name: 'B', workspace: 'A#' },
    { name: '#B', workspace: 'A' },
  ]);
  const [one, ten] = await world.addClusters([{ name: 'prod-1' }, { name: 'prod-10' }]);
  if (one === undefined || ten === undefined) throw new Error('no hosts');
  await world.turns();
  expect(a?.id).not.toBe(b?.id);
  const admin = await Console.open(world);
  const all: { id: string; name: string }[] = (await admin.get('k8sclusters/?page_size=200')).results;
  expect(all.map((c) => c.name).sort()).toEqual(['#B', 'B', 'prod-1', 'prod-10']);
  const same = await admin.send('POST', 'workspaces/', { name: 'A#', organization: a?.organization });
  expect(same.status).toBe(409);
  const override = async (id: string) => (await admin.get(`k8sclusters/${id}/`)).rollout_override.paused;
  await admin.post(`operator-rollout/${one.id}/pause/`, {});
  expect([await override(one.id), await override(ten.id)]).toEqual([true, false]);
  await admin.send('DELETE', `k8sclusters/${one.id}/?force=true`);
  const left: { name: string; archived: boolean }[] = (await admin.get('k8sclusters/?page_size=200')).results;
  expect(
    left
      .filter((c) => !c.archived)
      .map((c) => c.name)
      .sort(),
  ).toEqual(['#B', 'B', 'prod-10']);
});

test('B18 (b) a double click makes one item, and says which', async () => {
  await fleet(1);
  await world.settings({ OPERATOR_BLOCK_VERSION: '1.0.0' });
  const admin = await Console.open(world);
  const path = `operator-rollout/${world.host('c1').id}/force-update/`;
  const answers = await Promise.all([admin.send('POST', path), admin.send('POST', path)]);
  const ids = answers.map(({ status, body }) => (status === 409 ? body.conflict.id : body.id));
  expect(answers.map(({ status }) => [200, 201, 409].includes(status))).toEqual([true, true]);
  expect(new Set(ids).size).toBe(1);
  await world.until(async () => (await world.wave()).status === 'completed', 600_000, 10);
  expect((await world.waves()).map(line)).toEqual(['1 = 1+0+0+0+0']);
});
