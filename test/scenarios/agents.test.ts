import { afterEach, describe, expect, test } from 'vitest';
import { derivedId } from '../../lib/app/derived-ids.ts';
import { readTargets } from '../../lib/app/engine/target-facts.ts';
import type { Downtime } from '../../lib/app/ports.ts';
import { OPERATOR_APP } from '../../lib/domain/shared/fleet.ts';
import { MINUTE, SECOND } from '../../lib/domain/shared/time.ts';
import type { Host } from '../support/host.ts';
import { line, names, World } from '../support/world.ts';

/** The case says 200: `B24_AGENTS=200 npx vitest run test/scenarios/agents.test.ts -t B24`. */
const B24 = Number(process.env['B24_AGENTS'] ?? 60);

let world: World;
afterEach(() => world.stop());

async function started(n: number, change: Parameters<World['config']>[0] = {}): Promise<Host[]> {
  world = await World.start();
  await world.plainRules();
  if (Object.keys(change).length > 0) await world.config(change);
  const hosts = await world.addClusters(names(n));
  await world.turns();
  return hosts;
}

async function downtimes(): Promise<Downtime[]> {
  const { objects, ids } = world.services;
  const organization = derivedId.organization(ids, 'acme');
  const page = await objects.listIds('downtime', { organization, path: [] }, { limit: 1000 });
  return [...(await objects.getMany('downtime', page.ids)).values()];
}

const presence = (host: Host) => world.services.presence.get(derivedId.operatorAgent(world.services.ids, host.id), true);
const runsOf = async (host: Host) => {
  const wave = await world.wave();
  const item = world.itemOf(host.name, await world.items(wave.id));
  return [...(await world.services.engine.runs(item.attempts)).values()];
};
/** Fetches the one run that waits for the host, without working on it. */
async function fetched(host: Host): Promise<{ id: string; attempt: number }> {
  const [run] = (await host.report()).action_runs;
  if (run === undefined) throw new Error(`nothing waits for ${host.name}`);
  return run;
}
const finish = (host: Host, run: string, exit_code: number | null, cancelled = false) =>
  world.agents.finishRun({ ...host.call(run), stdout: null, stderr: null, exit_code, cancelled, finished_at: null });

describe('results', () => {
  test('B13 an agent that accepts and never reports is timed out twice and holds nobody else up', async () => {
    const [a] = await started(3, { max_retries: 1 });
    if (a === undefined) throw new Error('no host');
    a.behaviour.seconds = null;
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 33 });
    await world.until(async () => (await world.wave()).status === 'completed', 120 * MINUTE, 60);
    expect(line(await world.wave())).toBe('3 = 2+0+0+1+0');
    const runs = await runsOf(a);
    expect(runs.map((run) => run.status_reason)).toEqual(['timed_out', 'timed_out']);
    for (const run of runs) expect((run.finished_at ?? 0) - run.dispatched_at).toBeLessThanOrEqual(31 * MINUTE);
    expect((await presence(a))?.inbox).toEqual({});
  });

  test('B16 a late result of a timed-out attempt frees no place a second time', async () => {
    const hosts = await started(10);
    for (const host of hosts) host.behaviour.seconds = null;
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 10 });
    for (let round = 0; round < 3; round++) {
      await world.turns();
      const [busy] = hosts.filter((host) => host.work.size > 0);
      const [work] = busy?.work.values() ?? [];
      if (busy === undefined || work === undefined) throw new Error('nobody works');
      await world.play(35 * 60, 150);
      const before = line(await world.wave());
      expect(before).toMatch(/^10 = 0\+1\+/);
      const run = await finish(busy, work.run, 0);
      await world.settle();
      expect([run.status, run.status_reason]).toEqual(['failed', 'timed_out']);
      expect(line(await world.wave())).toBe(before);
      expect(await world.updating()).toBe(1);
      busy.work.clear();
    }
  });

  test('B18 a run fetched twice is one run; a cluster brought to the target by hand installs nothing', async () => {
    const [a, b] = await started(2);
    if (a === undefined || b === undefined) throw new Error('no hosts');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const first = await fetched(a);
    expect(await fetched(a)).toEqual(first);
    const claims = await Promise.all([1, 2, 3].map(() => world.agents.claimRun(a.call(first.id))));
    expect(new Set(claims.map(({ run }) => `${run.id} ${run.status}`))).toEqual(new Set([`${first.id} running`]));
    b.installed = '2.0.0';
    expect((await b.report()).action_runs).toEqual([]);
    await world.settle();
    const items = await world.items((await world.wave()).id);
    expect(world.itemOf(b.name, items).status).toBe('completed');
    expect(b.executed).toEqual([]);
  });

  test('B19 exit code 0 without the new version is not done', async () => {
    const [a] = await started(1, { max_retries: 1 });
    if (a === undefined) throw new Error('no host');
    a.behaviour.reports = 'unchanged';
    await world.settings({ OPERATOR_BLOCK_VERSION: '1.1.0' });
    await world.turns();
    await world.play(60, 30);
    expect(line(await world.wave())).toBe('1 = 0+1+0+0+0');
    await world.until(async () => (await world.wave()).counters.failed === 1, 60 * MINUTE, 30);
    const runs = await runsOf(a);
    expect(runs.map((run) => [run.status, run.status_reason, run.exit_code])).toEqual([
      ['failed', 'version_unchanged', 0],
      ['failed', 'version_unchanged', 0],
    ]);
    await world.play(30 * 60, 60);
    expect(a.executed).toHaveLength(2);
    const app = await world.services.objects.get('k8s_app', derivedId.app(world.services.ids, a.id, OPERATOR_APP));
    expect(app?.installed_version).toBe('1.0.0');
  });

  test('a report that shows the target counts although the result message was lost; the late result changes nothing', async () => {
    const [a] = await started(1);
    if (a === undefined) throw new Error('no host');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const { id } = await fetched(a);
    await world.agents.claimRun(a.call(id));
    a.installed = '2.0.0';
    await a.report();
    await world.settle();
    expect((await world.wave()).counters.done).toBe(1);
    expect((await finish(a, id, 1)).status).toBe('success');
    expect((await finish(a, id, 1)).status).toBe('success');
    await world.settle();
    expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  });

  test('only the holder of a claim finishes a run, and not before the claim', async () => {
    const [a, b] = await started(2);
    if (a === undefined || b === undefined) throw new Error('no hosts');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const { id } = await fetched(a);
    await expect(finish(a, id, 0)).rejects.toMatchObject({ kind: 'conflict' });
    await expect(world.agents.claimRun(b.call(id))).rejects.toMatchObject({ kind: 'conflict' });
    await world.agents.claimRun(a.call(id));
    await expect(finish(b, id, 0)).rejects.toMatchObject({ kind: 'conflict' });
    await expect(world.agents.claimRun({ ...a.call(id), cluster_uid: null })).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('a run that nobody claims is withdrawn after five minutes, uses no try and starts nothing later', async () => {
    const [a] = await started(1);
    if (a === undefined) throw new Error('no host');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const { id } = await fetched(a);
    for (let minute = 0; minute < 6; minute++) {
      await world.advance(60);
      await a.report();
    }
    const items = await world.items((await world.wave()).id);
    const [first] = await runsOf(a);
    expect([first?.id, first?.status, first?.status_reason]).toEqual([id, 'cancelled', 'withdrawn']);
    expect(world.itemOf(a.name, items).retry_count).toBe(0);
    const late = await world.agents.claimRun(a.call(id));
    expect([late.run.status, late.config]).toEqual(['cancelled', null]);
    await world.until(async () => (await world.wave()).counters.done === 1);
    expect(a.executed).not.toContain(id);
  });

  test('soaking restarts while the agent is not well and ends the attempt when it is critical', async () => {
    const [a] = await started(1, { soak_seconds: 120, max_retries: 0 });
    if (a === undefined) throw new Error('no host');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    await world.turns();
    await world.advance(1);
    await world.turns();
    expect((await runsOf(a))[0]?.phase).toBe('soaking');
    await world.advance(100);
    await reportAs(a, 'degraded');
    await world.advance(100);
    await a.report();
    expect((await runsOf(a))[0]?.phase).toBe('soaking');
    await reportAs(a, 'critical');
    await world.settle();
    expect((await runsOf(a))[0]?.status_reason).toBe('soak_failed');
    expect((await world.wave()).counters.failed).toBe(1);
  });
});

const reportAs = (host: Host, status: 'healthy' | 'degraded' | 'critical') =>
  world.agents.recordHeartbeat({
    token: world.token(host.workspace),
    report: {
      kind: 'operator',
      reported_agent_id: 'operator',
      status,
      cluster: { uid: host.uid, name: host.name },
      apps: [{ name: OPERATOR_APP, installed_version: host.installed, state: 'OK' }],
    },
  });

describe('silence', () => {
  test('B22 never seen is not 1970; critical gives one Downtime, from the last report', async () => {
    world = await World.start();
    const [a, never] = await world.addClusters(names(2));
    if (a === undefined || never === undefined) throw new Error('no hosts');
    await world.settings({ AGENT_WARNING_AFTER_SECONDS: 120, AGENT_CRITICAL_AFTER_SECONDS: 180 });
    never.behaviour.silent = true;
    await a.report();
    const seen = world.now();
    await world.advance(179);
    expect(await downtimes()).toEqual([]);
    await world.advance(61);
    for (let check = 0; check < 4; check++) {
      await world.advance(60);
      expect((await downtimes()).map((d) => [d.k8s_cluster, d.started_at, d.ended_at, d.kind])).toEqual([[a.id, seen, null, 'generic']]);
    }
    await a.report();
    expect((await downtimes()).map((d) => d.ended_at)).toEqual([world.now()]);
    expect((await presence(never))?.last_seen ?? null).toBeNull();
  });

  test('B23 a second host with the same agent id is refused and takes nothing', async () => {
    const [a] = await started(1);
    if (a === undefined) throw new Error('no host');
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    const clone = {
      token: world.token(a.workspace),
      report: { kind: 'operator' as const, cluster: { uid: 'another-host', name: a.name } },
    };
    const plain = { ...clone, report: { ...clone.report, kind: 'agent' as const, reported_agent_id: 'second' } };
    for (let turn = 0; turn < 3; turn++) {
      await expect(world.agents.recordHeartbeat(clone)).rejects.toMatchObject({ kind: 'conflict' });
      await expect(world.agents.recordHeartbeat(plain)).rejects.toMatchObject({ kind: 'conflict' });
      await a.turn();
      await world.advance(30);
    }
    expect(a.executed).toHaveLength(1);
    expect((await presence(a))?.cluster_uid).toBe(a.uid);
    expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  });

  test('B24 when everybody is silent at once, the listener is the suspect: no deadline fires and all recovers', async () => {
    const hosts = await started(B24, { failure_threshold_percent: 0, action_timeout_seconds: 3600 });
    for (const host of hosts) host.behaviour.seconds = 12 * 60;
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0', OPERATOR_ROLLOUT_PERCENTAGE: 5, AGENT_WARNING_AFTER_SECONDS: 180 });
    await world.play(120, 60);
    expect((await world.wave()).counters.in_progress).toBe(B24 / 20);
    await world.advance(20 * 60);
    const state = await world.runtime.services.agents.watch.read();
    expect(state.alert?.ended_at).toBeNull();
    expect((await world.wave()).counters.failed).toBe(0);
    await world.play(5 * 60, 60);
    const all = await downtimes();
    expect(all.filter((d) => d.ended_at === null)).toEqual([]);
    for (const host of hosts) expect(all.filter((d) => d.k8s_cluster === host.id).length).toBeLessThanOrEqual(1);
    const wave = await world.wave();
    expect([wave.status, wave.counters.failed]).toEqual(['active', 0]);
    expect((await world.runtime.services.agents.watch.read()).alert?.ended_at).not.toBeNull();
  }, 180_000);

  test('B24 a deadline that passes while nobody is heard fires only when agents have had time to report', async () => {
    const hosts = await started(20, { action_timeout_seconds: 600 });
    const [a] = hosts;
    if (a === undefined) throw new Error('no host');
    for (const host of hosts) host.behaviour.seconds = 8 * 60;
    await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
    await world.turns();
    await world.advance(20 * 60);
    expect((await world.wave()).counters.failed).toBe(0);
    await world.play(120, 60);
    const wave = await world.wave();
    expect([wave.counters.failed, wave.counters.done]).toEqual([0, 20]);
  });

  test('B25 silence during a maintenance is planned', async () => {
    world = await World.start();
    const [m] = await world.addClusters(names(1));
    if (m === undefined) throw new Error('no host');
    await m.report();
    const { ids, objects } = world.services;
    const now = world.now();
    await objects.create('maintenance', {
      id: ids.fresh(),
      name: 'rack move',
      display_name: null,
      labels: {},
      annotations: {},
      created_at: now,
      updated_at: now,
      archived: false,
      archived_at: null,
      archived_reason: null,
      organization: m.organization,
      k8s_clusters: [m.id],
      workspaces: [],
      start: now,
      end: now + 60 * MINUTE,
      draft: false,
    });
    await world.advance(7 * 60);
    expect((await downtimes()).map((d) => [d.kind, d.ended_at])).toEqual([['planned-maintenance', null]]);
  });
});

test('a first install is done by an installer and shown by the operator that it brings', async () => {
  world = await World.start();
  await world.plainRules();
  const [a] = await world.addClusters([{ name: 'bare', installed: null }]);
  if (a === undefined) throw new Error('no host');
  a.behaviour.silent = true;
  const installer = (apps: readonly { name: string; installed_version: string }[] = []) =>
    world.agents.recordHeartbeat({
      token: world.token(a.workspace),
      report: { kind: 'agent', reported_agent_id: 'installer', cluster: { uid: a.uid, name: a.name }, apps },
    });
  await installer();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  const [run] = (await installer()).action_runs;
  if (run === undefined) throw new Error('the installer gets nothing');
  await world.agents.claimRun(a.call(run.id));
  await finish(a, run.id, 0);
  await world.settle();
  expect(line(await world.wave())).toBe('1 = 0+1+0+0+0');
  a.installed = '2.0.0';
  await a.report();
  await world.settle();
  expect(line(await world.wave())).toBe('1 = 1+0+0+0+0');
  await world.advance(10 * SECOND);
});

test('a pause of the cluster reaches the row that the dispatch asks', async () => {
  const [a] = await started(1);
  if (a === undefined) throw new Error('no host');
  const cluster = await world.services.objects.get('k8s_cluster', a.id, true);
  if (cluster === null) throw new Error('no cluster');
  await world.services.objects.replace('k8s_cluster', cluster, {
    ...cluster,
    rollout_override: { ...cluster.rollout_override, paused: true, paused_until: null },
  });
  expect((await presence(a))?.paused_until).toBeGreaterThan(world.now());
  const rows = await readTargets(world.services, [
    { block: a.id, organization: a.organization, workspace: a.workspace, k8s_cluster: a.id },
  ]);
  expect([...rows.presences.values()].map((row) => row.k8s_cluster)).toEqual([a.id]);
});
