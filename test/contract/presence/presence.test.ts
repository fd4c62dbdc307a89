import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keys } from '../../../lib/adapters/dynamodb/keys.ts';
import { DynamoPresenceStore } from '../../../lib/adapters/dynamodb/presence-store.ts';
import { DynamoWatchStore } from '../../../lib/adapters/dynamodb/watch-store.ts';
import { type Beat, type Binding, encodeInboxRun, FOREVER, type InboxRun } from '../../../lib/app/agents/presence.ts';
import { auditOf } from '../../../lib/app/engine/audit.ts';
import { type Embedded, embedded } from '../../support/embedded.ts';

let e: Embedded;
let store: DynamoPresenceStore;
beforeAll(async () => {
  e = await embedded();
  store = new DynamoPresenceStore(e.table);
});
afterAll(() => e.stop());

const binding = (change: Partial<Binding> = {}): Binding => ({
  agent: e.ids.fresh(),
  kind: 'operator',
  organization: e.ids.fresh(),
  workspace: e.ids.fresh(),
  k8s_cluster: e.ids.fresh(),
  reported_agent_id: 'operator',
  key_id: e.ids.fresh(),
  key_hash: 'Hq3pXq9m1q0vU5yJx3m2Zr8a7c6b5d4e3f2g1h0iJkL',
  cluster_uid: '8f1c1f8e-5b1f-4c53-9d0a-5a6a4f0c9b11',
  paused_until: null,
  now: e.clock.now(),
  ...change,
});
const beatOf = (b: Binding, change: Partial<Beat> = {}): Beat => ({
  agent: b.agent,
  key_hash: b.key_hash,
  cluster_uid: b.cluster_uid,
  now: e.clock.now(),
  version: '0.34.0',
  health: 'healthy',
  apps: 'polycrate-operator\t0.34.0\tO',
  ...change,
});
const audit = (agent: string) =>
  auditOf(
    { ids: e.ids },
    'test',
    'agent.rebind',
    { type: 'agent', id: agent, organization: null },
    { before: null, after: null },
    e.clock.now(),
  );
const spent = () => ({ ...e.table.units.total });
const run: InboxRun = {
  block: 'ayedo/k8s/polycrate-operator',
  action: 'install',
  attempt: 1,
  deadline: 1_790_000_000_000,
  app: 'polycrate-operator',
  target: '0.35.0',
  finished: false,
};
const addRun = (b: Binding, id: string) => e.table.update(keys.presence(b.agent), { set: { [`inbox.${id}`]: encodeInboxRun(run) } });

async function reporting(change: Partial<Binding> = {}): Promise<Binding> {
  const b = binding(change);
  await store.bind(b, null);
  await store.settle(beatOf(b), null);
  return b;
}

describe('a heartbeat', () => {
  test('without change is one write unit, no read, and leaves a row of at most 1 KB that holds an open run', async () => {
    const b = await reporting();
    await addRun(b, e.ids.fresh());
    const before = spent();
    const answer = await store.beat(beatOf(b), 0);
    expect(spent()).toEqual({ write: before.write + 1, read: before.read });
    expect(answer.ok && Object.values(answer.before?.inbox ?? {})).toEqual([run]);
    const row = await e.table.get(keys.presence(b.agent));
    expect(Buffer.byteLength(JSON.stringify(row))).toBeLessThanOrEqual(1024);
  });

  test('a look at all agents costs at most 0.1 read units each', async () => {
    const b = await reporting();
    const row = await e.table.get(keys.presence(b.agent));
    const bytes = Object.entries(row ?? {}).reduce(
      (sum, [name, value]) => sum + name.length + (typeof value === 'number' ? 8 : Buffer.byteLength(String(value))),
      0,
    );
    expect(bytes / 8192).toBeLessThanOrEqual(0.1);
  });

  test.each([
    ['another key', { key_hash: 'other' }],
    ['another host', { cluster_uid: 'other' }],
    ['other apps', { apps: 'polycrate-operator\t0.35.0\tO' }],
  ])('is refused, with the row as it is, for %s', async (_what, change) => {
    const b = await reporting();
    const answer = await store.beat(beatOf(b, { ...change, now: e.clock.now() + 1 }), 0);
    expect([answer.ok, !answer.ok && answer.row?.last_seen]).toEqual([false, e.clock.now()]);
  });

  test('is refused after a silence, during a Downtime, and once the key is revoked', async () => {
    const silent = await reporting();
    expect((await store.beat(beatOf(silent), e.clock.now() + 1)).ok).toBe(false);
    const down = await reporting();
    expect(await store.markDowntime(down.agent, 'd1', e.clock.now())).toBe(true);
    expect((await store.beat(beatOf(down), 0)).ok).toBe(false);
    expect((await store.settle(beatOf(down), 'd1')).ok).toBe(true);
    expect((await store.beat(beatOf(down), 0)).ok).toBe(true);
    const gone = await reporting();
    await store.revoke(gone.agent, 'another key');
    expect((await store.beat(beatOf(gone), 0)).ok).toBe(true);
    await store.revoke(gone.agent, gone.key_id);
    expect((await store.beat(beatOf(gone), 0)).ok).toBe(false);
    expect((await store.settle(beatOf(gone), null)).ok).toBe(false);
  });

  test('of an agent that nobody knows is refused without a row', async () => {
    expect(await store.beat(beatOf(binding()), 0)).toEqual({ ok: false, row: null });
  });
});

describe('binding', () => {
  test('holds for one host; a rotated key is taken, a rebound agent takes a new host', async () => {
    const b = await reporting();
    expect((await store.bind({ ...b, cluster_uid: 'second' }, null)).ok).toBe(false);
    expect((await store.bind({ ...b, key_hash: 'rotated' }, null)).ok).toBe(true);
    expect(await store.unbind(b.agent, audit(b.agent))).toBe(true);
    expect(await store.unbind(e.ids.fresh(), audit(b.agent))).toBe(false);
    expect((await store.bind({ ...b, cluster_uid: 'second' }, null)).ok).toBe(true);
    expect((await store.get(b.agent, true))?.cluster_uid).toBe('second');
  });

  test('fifty hosts at once: exactly one is bound', async () => {
    const b = binding();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => store.bind({ ...b, cluster_uid: `host-${n}` }, null)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
  });

  test('keeps what is open: registering again loses no run', async () => {
    const b = await reporting();
    await addRun(b, 'r1');
    await store.bind({ ...b, key_hash: 'rotated' }, null);
    expect(Object.keys((await store.get(b.agent, true))?.inbox ?? {})).toEqual(['r1']);
  });

  test('lists by workspace and cluster, and tells agents of no cluster apart', async () => {
    const a = await reporting();
    const same = { organization: a.organization, workspace: a.workspace };
    const b = await reporting({ ...same });
    const c = await reporting({ ...same, k8s_cluster: null, kind: 'agent' });
    expect((await store.listIds(same)).sort()).toEqual([a.agent, b.agent, c.agent].sort());
    expect(await store.listIds({ ...same, k8s_cluster: b.k8s_cluster })).toEqual([b.agent]);
    expect(await store.listIds({ ...same, k8s_cluster: null })).toEqual([c.agent]);
    expect((await store.get(c.agent))?.k8s_cluster).toBeNull();
  });
});

describe('what waits for an agent', () => {
  test('stop requests add up, are forgotten one by one, and forgetting nothing is no write', async () => {
    const b = await reporting();
    await store.requestStop(b.agent, 'r1');
    await store.requestStop(b.agent, 'r2');
    await store.requestStop(b.agent, 'r2');
    expect((await store.get(b.agent, true))?.cancels).toEqual(['r1', 'r2']);
    await store.forgetStops(b.agent, ['r1']);
    const before = spent();
    await store.forgetStops(b.agent, []);
    expect(spent()).toEqual(before);
    expect((await store.get(b.agent, true))?.cancels).toEqual(['r2']);
  });

  test('an inbox entry is replaced only while it is there', async () => {
    const b = await reporting();
    await addRun(b, 'r1');
    await store.updateInbox(b.agent, 'r1', { ...run, finished: true });
    await store.updateInbox(b.agent, 'r2', run);
    expect((await store.get(b.agent, true))?.inbox).toEqual({ r1: { ...run, finished: true } });
  });

  test('a Downtime is remembered only if the agent has not been heard from since', async () => {
    const b = await reporting();
    expect(await store.markDowntime(b.agent, 'd1', e.clock.now() - 1)).toBe(false);
    expect(await store.markDowntime(b.agent, 'd1', e.clock.now())).toBe(true);
    expect(await store.markDowntime(b.agent, 'd2', e.clock.now())).toBe(false);
  });

  test('a pause without an end outlasts every clock', async () => {
    const b = await reporting();
    await store.setPause([b.agent, e.ids.fresh()], FOREVER);
    expect((await store.get(b.agent, true))?.paused_until).toBe(FOREVER);
    await store.setPause([b.agent], null);
    expect((await store.get(b.agent, true))?.paused_until).toBeNull();
  });
});

test('a walk over all partitions, page by page, meets every agent once', async () => {
  const made = await Promise.all(Array.from({ length: 40 }, () => reporting()));
  const met: string[] = [];
  for (let partition = 0; partition < 16; partition++) {
    let cursor: string | null = null;
    do {
      const page = await store.scan(partition, cursor, 2);
      met.push(...page.rows.map((row) => row.id));
      cursor = page.cursor;
    } while (cursor !== null);
  }
  expect(new Set(met).size).toBe(met.length);
  expect(met).toEqual(expect.arrayContaining(made.map((b) => b.agent)));
});

test('of two looks at the agents at once only one counts', async () => {
  const watch = new DynamoWatchStore(e.table);
  const before = await watch.read();
  expect(before).toEqual({ revision: 0, checked_at: null, alert: null });
  const alert = { since: 1, ended_at: null };
  expect(await Promise.all([1, 2].map((checked_at) => watch.write(before, { checked_at, alert }, [])))).toEqual(
    expect.arrayContaining([true, false]),
  );
  expect((await watch.read()).alert).toEqual(alert);
  expect(await watch.write(await watch.read(), { checked_at: 3, alert: null }, [])).toBe(true);
  expect(await watch.read()).toEqual({ revision: 2, checked_at: 3, alert: null });
});
