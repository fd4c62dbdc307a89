import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentClient, type Sender, Table } from '../../lib/adapters/dynamodb/client.ts';
import { DynamoImportStore } from '../../lib/adapters/dynamodb/import-store.ts';
import { keys } from '../../lib/adapters/dynamodb/keys.ts';
import { presenceOf } from '../../lib/adapters/dynamodb/presence-row.ts';
import { NunjucksRenderer } from '../../lib/adapters/templates/renderer.ts';
import { derivedId } from '../../lib/app/derived-ids.ts';
import { continueImport, noCounts } from '../../lib/app/import/advance.ts';
import { configBuilder } from '../../lib/app/import/config-builder.ts';
import type { ImportRow, ImportServices, ImportState, ImportUnit, ObjectWrite, UnitChange } from '../../lib/app/import/ports.ts';
import * as records from '../../lib/app/import/records.ts';
import { startImport } from '../../lib/app/import/start.ts';
import type { ObjectType } from '../../lib/app/ports.ts';
import type { K8sCluster, WindowObject } from '../../lib/domain/shared/fleet.ts';
import { exampleFleet } from '../../scripts/example-fleet.ts';
import { type Embedded, embedded } from '../support/embedded.ts';

let env: Embedded;
let store: DynamoImportStore;
beforeAll(async () => {
  env = await embedded();
  store = new DynamoImportStore(env.table, env.clock, env.ids, env.also);
});
afterAll(() => env.stop());

const fleetNumbers = async () => {
  const row = await env.table.get(keys.fleet(), true);
  return { clusters: Number(row?.['clusters'] ?? 0), paused: Number(row?.['paused'] ?? 0) };
};

function importRow(over: Partial<ImportRow> = {}): ImportRow {
  const now = env.clock.now();
  const touched = { everything: false, clusters: ['a'], workspaces: [], organizations: [] };
  const progress = {
    pages: 3,
    next_page: 0,
    total: 9,
    done: 0,
    counts: noCounts(),
    touched,
    pruned_up_to: '',
    look_again_at: now,
    version: 1,
  };
  const base = { id: env.ids.fresh(), status: 'running' as const, actor: 'ann', prune: true, created_at: now, finished_at: null };
  return { ...base, ...progress, ...over };
}

const stateOf = (id: string, before: ImportState | null = null): UnitChange['state'] => ({
  before,
  after: { id, version: 99, records: { '': { criticality: 'abc' } }, import: 'i1', outcomes: { '': 'created' } },
});
const change = (id: string, objects: readonly ObjectWrite[], rest: Partial<UnitChange> = {}): UnitChange => ({
  state: stateOf(id),
  objects,
  settings: null,
  ...rest,
});

const birth = (id: string, name: string) => ({ id, name, now: env.clock.now() });
function newCluster(name: string, over: Partial<K8sCluster> = {}): K8sCluster {
  const organization = derivedId.organization(env.ids, 'acme');
  const workspace = derivedId.workspace(env.ids, organization, 'prod');
  const parents = { organization, workspace, k8s_cluster: null };
  return { ...records.newCluster(birth(derivedId.cluster(env.ids, workspace, name), name), parents), ...over };
}
const clusterChange = (name: string, over: Partial<K8sCluster> = {}): UnitChange => {
  const after = newCluster(name, over);
  return change(after.id, [{ type: 'k8s_cluster', before: null, after }]);
};
const read = async <T extends ObjectType>(type: T, id: string) => {
  const found = await env.objects.get(type, id, true);
  if (found === null) throw new Error(`no ${type} ${id}`);
  return found;
};

describe('pages of the body', () => {
  it('come back as they were, also when saved twice, and name what is missing', async () => {
    const unit = (name: string): ImportUnit => ({
      ...{ kind: 'organization', id: name, name, fields: { 'labels/é': 'ü\n"', contacts: [] }, once: {}, organization: name },
      ...{ workspace: null, children: [], further: false, keep: null },
    });
    const pages = Array.from({ length: 23 }, (_, page) => [unit(`a${page}`), unit(`b${page}`)]);
    const id = env.ids.fresh();
    await store.savePages(id, pages);
    await store.savePages(id, pages);
    expect(await store.loadPage(id, 0)).toEqual(pages[0]);
    expect(await store.loadPage(id, 22)).toEqual(pages[22]);
    await expect(store.loadPage(id, 23)).rejects.toThrow(/Page 23/);
  });

  it('fit into a row at the limit of 350 KB even when they cannot be packed well, and are kept for 7 days', async () => {
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(65_000))).toString('base64');
    const id = env.ids.fresh();
    const fields = {
      'labels/a': noise,
      'labels/b': noise.split('').reverse().join(''),
      'labels/c': noise.slice(1),
      'labels/d': noise.slice(0, 1),
    };
    const page: ImportUnit[] = [
      {
        ...{ kind: 'organization', id: 'o', name: 'o', fields, once: {}, organization: 'o' },
        ...{ workspace: null, children: [], further: false, keep: [] },
      },
    ];
    await store.savePages(id, [page]);
    expect(await store.loadPage(id, 0)).toEqual(page);
    const row = await env.table.get(keys.importChunk(id, 0));
    expect(row?.['expires_at']).toBe(Math.ceil(env.clock.now() / 1000) + 7 * 86_400);
  });
});

describe('row of an import', () => {
  it('is made once, replaced only from the version read, and comes back whole', async () => {
    const row = importRow();
    expect(await store.get(row.id)).toBeNull();
    expect(await store.put(null, row)).toBe(true);
    expect(await store.put(null, row)).toBe(false);
    expect(await store.get(row.id)).toEqual(row);
    expect(await store.put(row, { ...row, next_page: 1 })).toBe(true);
    expect(await store.put(row, { ...row, next_page: 2 })).toBe(false);
    expect(await store.get(row.id)).toEqual({ ...row, next_page: 1, version: 2 });
  });

  it('takes what rides along with it, or leaves both', async () => {
    const row = importRow();
    await store.put(null, row);
    const organization = records.newOrganization(birth(env.ids.fresh(), 'rider'));
    const also = [{ kind: 'object', type: 'organization', before: null, after: organization }] as const;
    expect(await store.put({ ...row, version: 7 }, row, also)).toBe(false);
    expect(await env.objects.get('organization', organization.id)).toBeNull();
    expect(await store.put(row, row, also)).toBe(true);
    expect(await env.objects.get('organization', organization.id)).toMatchObject({ name: 'rider', version: 1 });
  });

  it('is due while it runs and its time has come, and not when it is finished', async () => {
    const now = env.clock.now();
    const [due, later] = [importRow({ look_again_at: now - 1 }), importRow({ look_again_at: now + 1 })];
    await store.put(null, due);
    await store.put(null, later);
    const ids = await store.due(now, 100);
    expect(ids).toContain(due.id);
    expect(ids).not.toContain(later.id);
    expect(await store.due(now, 1)).toHaveLength(1);
    await store.put(due, { ...due, status: 'completed', finished_at: now });
    expect(await store.due(now, 100)).not.toContain(due.id);
    expect(await store.get(due.id)).toMatchObject({ status: 'completed', finished_at: now });
  });
});

describe('writes of units', () => {
  it('make objects, state, window and settings together, at version 1', async () => {
    const id = derivedId.organization(env.ids, 'one');
    const organization = records.newOrganization(birth(id, 'one'));
    const window: WindowObject = {
      ...records.newWindow(birth(env.ids.fresh(), 'one'), { organization: id, workspace: null }),
      ...{ time_zone: 'Europe/Berlin', time_slots: [{ days: ['mon'], start: '22:00', end: '04:00' }] },
    };
    const before = await env.settings.read();
    const settings = { before, after: { ...before, OPERATOR_ROLLOUT_PERCENTAGE: 20, free: { region: 'eu' } } };
    const objects: ObjectWrite[] = [
      { type: 'maintenance_window', before: null, after: window },
      { type: 'organization', before: null, after: organization },
    ];
    const all = change(id, objects, { settings });
    expect(await store.apply([all])).toEqual([true]);
    expect(await read('organization', id)).toEqual({ ...organization, version: 1 });
    expect(await read('maintenance_window', window.id)).toEqual({ ...window, version: 1 });
    expect(await store.states([id, 'none'])).toEqual(new Map([[id, { ...all.state.after, version: 1 }]]));
    expect(await env.settings.read()).toEqual({ ...settings.after, revision: before.revision + 1 });
    // The same again: nothing of it is as it was read.
    expect(await store.apply([all])).toEqual([false]);
  });

  it('replace from the version read, with the time of the write', async () => {
    const id = derivedId.organization(env.ids, 'two');
    await store.apply([change(id, [{ type: 'organization', before: null, after: records.newOrganization(birth(id, 'two')) }])]);
    const before = await read('organization', id);
    const state = (await store.states([id])).get(id) ?? null;
    env.clock.forward(5_000);
    const next = change(id, [{ type: 'organization', before, after: { ...before, criticality: 'high' } as typeof before }], {
      state: stateOf(id, state),
    });
    expect(await store.apply([next])).toEqual([true]);
    expect(await read('organization', id)).toEqual({ ...before, criticality: 'high', version: 2, updated_at: before.created_at + 5_000 });
    expect((await store.states([id])).get(id)?.version).toBe(2);
  });

  it.each(['object', 'window', 'settings', 'state'] as const)('are refused as a whole when the %s was changed meanwhile', async (what) => {
    const id = derivedId.organization(env.ids, `stale ${what}`);
    const stored = await env.objects.create('organization', records.newOrganization(birth(env.ids.fresh(), what)));
    const window = { ...records.newWindow(birth(env.ids.fresh(), 'w'), { organization: id, workspace: null }), version: 1 };
    const settings = await env.settings.read();
    const parts: Record<typeof what, Partial<UnitChange>> = {
      object: { objects: [{ type: 'organization', before: { ...stored, version: 5 }, after: stored }] },
      window: { objects: [{ type: 'maintenance_window', before: window, after: window }] },
      settings: { settings: { before: { ...settings, revision: settings.revision + 1 }, after: settings } },
      state: { state: stateOf(id, { ...stateOf(id).after, version: 3 }) },
    };
    const made = records.newOrganization(birth(id, 'made'));
    const one = { ...change(id, [{ type: 'organization', before: null, after: made }]), ...parts[what] };
    expect(await store.apply([one])).toEqual([false]);
    expect(await env.objects.get('organization', id)).toBeNull();
    expect((await store.states([id])).has(id)).toBe(false);
    expect(await env.settings.read()).toEqual(settings);
  });
});

describe('clusters', () => {
  it('are counted in the fleet and get their presence row; a pause is seen there', async () => {
    const start = await fleetNumbers();
    const changes = [clusterChange('c1'), clusterChange('c2', { active: false }), clusterChange('c3')];
    expect(await store.apply(changes)).toEqual([true, true, true]);
    expect(await fleetNumbers()).toEqual({ clusters: start.clusters + 2, paused: start.paused });
    const cluster = await read('k8s_cluster', newCluster('c1').id);
    const presence = await env.table.get(keys.presence(derivedId.operatorAgent(env.ids, cluster.id)), true);
    expect(presenceOf(presence ?? { pk: '', sk: '' })).toMatchObject({
      k8s_cluster: cluster.id,
      workspace: cluster.workspace,
      kind: 'operator',
      gone: false,
    });
    const state = (await store.states([cluster.id])).get(cluster.id) ?? null;
    const off = { ...cluster, active: false };
    expect(
      await store.apply([
        change(cluster.id, [{ type: 'k8s_cluster', before: cluster, after: off }], { state: stateOf(cluster.id, state) }),
      ]),
    ).toEqual([true]);
    expect(await fleetNumbers()).toEqual({ clusters: start.clusters + 1, paused: start.paused });
  });

  it('of one page share transactions; those that somebody else has made stay out, the others go in', async () => {
    const start = await fleetNumbers();
    const names = Array.from({ length: 60 }, (_, n) => `shared-${n}`);
    for (const name of ['shared-3', 'shared-41']) await env.objects.create('k8s_cluster', newCluster(name, { labels: { own: 'mine' } }));
    const answers = await store.apply(names.map((name) => clusterChange(name)));
    expect(answers.flatMap((ok, n) => (ok ? [] : [n]))).toEqual([3, 41]);
    expect(await fleetNumbers()).toEqual({ clusters: start.clusters + 60, paused: start.paused });
    expect((await read('k8s_cluster', newCluster('shared-3').id)).labels).toEqual({ own: 'mine' });
    expect((await store.states([newCluster('shared-41').id])).size).toBe(0);
  });

  it('of one state never meet in one transaction: the second one is refused, for it was decided on what the first has changed', async () => {
    const first = clusterChange('twice');
    const app = records.newApp(
      birth(env.ids.fresh(), 'app'),
      { organization: 'o', workspace: 'w', k8s_cluster: first.state.after.id },
      '1.0.0',
    );
    const second = change(first.state.after.id, [{ type: 'k8s_app', before: null, after: app }]);
    expect(await store.apply([first, second])).toEqual([true, false]);
  });

  it('with 40 blocks each fill a transaction and all go in', async () => {
    const full = Array.from({ length: 5 }, (_, n): UnitChange => {
      const { objects, ...rest } = clusterChange(`full-${n}`);
      const id = rest.state.after.id;
      const blocks = Array.from({ length: 39 }, (_, b): ObjectWrite => {
        const after = records.newBlock(
          birth(derivedId.block(env.ids, id, `b${b}`), `b${b}`),
          { organization: 'o', workspace: 'w', k8s_cluster: id },
          '1.0.0',
        );
        return { type: 'block', before: null, after: { ...after, config: { text: 'x'.repeat(5_000) } } as typeof after };
      });
      return { ...rest, objects: [...objects, ...blocks] };
    });
    expect(await store.apply(full)).toEqual([true, true, true, true, true]);
  });

  it('are written whole when the state is as large as it gets', async () => {
    const one = clusterChange('large');
    const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64');
    const hashes = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, n) => [
        `block#${env.ids.child('0'.repeat(32), 'b', `${n}`)}`,
        { config: noise(), version: noise() },
      ]),
    );
    const state = { before: null, after: { ...one.state.after, records: hashes } };
    expect(await store.apply([{ ...one, state }])).toEqual([true]);
    expect((await store.states([state.after.id])).get(state.after.id)?.records).toEqual(hashes);
  });
});

function services(imports: DynamoImportStore): ImportServices {
  return {
    ...{
      clock: env.clock,
      ids: env.ids,
      objects: env.objects,
      settings: env.settings,
      imports,
      configs: configBuilder,
      renderer: new NunjucksRenderer(),
    },
    changed: () => Promise.resolve(),
    demandWritten: () => Promise.resolve(),
    selectorProblem: () => null,
    archive: () => Promise.resolve(),
  };
}

describe('a large fleet', () => {
  it('goes in with few transactions, and changes nothing the second time', async () => {
    const clusters = 1_000;
    const client = documentClient(env.client);
    let transactions = 0;
    const counting = {
      send(command: TransactWriteCommand) {
        if (command instanceof TransactWriteCommand) transactions += 1;
        return client.send(command);
      },
    };
    const table = new Table(counting as Sender, env.name, { tries: 8, pause: () => Promise.resolve() });
    const imports = services(new DynamoImportStore(table, env.clock, env.ids, env.also));
    const body = new TextEncoder().encode(exampleFleet({ clusters, seed: 1, percentage: 10, target: '0.34.0', instant: true }));
    const start = await fleetNumbers();
    const { id } = await startImport(imports, { body, actor: 'ann', prune: false });
    const row = await continueImport(imports, id);
    expect(row).toMatchObject({ status: 'completed', done: row.total });
    expect(row.counts.k8s_cluster.created).toBe(clusters);
    expect((await fleetNumbers()).clusters).toBe(start.clusters + clusters);
    // Each cluster is up to five rows of the hundred that a transaction holds; each page ends with a write of the import's own row.
    expect(transactions).toBeLessThanOrEqual(clusters / 10 + 2 * row.pages + 2);
    const before = transactions;
    const again = await startImport(imports, { body, actor: 'ann', prune: false });
    const second = await continueImport(imports, again.id);
    expect(second.counts.k8s_cluster).toEqual({ created: 0, updated: 0, unchanged: clusters, archived: 0 });
    expect(transactions - before).toBe(second.pages + 2);
    client.destroy();
  });
});
