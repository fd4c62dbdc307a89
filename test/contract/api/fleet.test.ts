import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../lib/contracts/api/common.ts';
import { type Answered, type Api, startApi } from '../../support/api.ts';

let api: Api;
const made: Record<string, string> = {};

beforeAll(async () => {
  api = await startApi();
  made['organization'] = (await api.post('organizations/', { name: 'acme', criticality: 'high' })).body.id;
  made['workspace'] = (await api.post('workspaces/', { name: 'prod', organization: made['organization'] })).body.id;
  made['cluster'] = (await api.post('k8sclusters/', { name: 'fra-1', workspace: made['workspace'] })).body.id;
});
afterAll(() => api.stop());

const attrs = (answer: Answered): string[] => answer.body.errors.map((e: { attr: string }) => e.attr);
const names = (answer: Answered): string[] => answer.body.results.map((row: { name: string }) => row.name);

describe('objects', () => {
  it('inherit their criticality', async () => {
    expect((await api.get(`workspaces/${made['workspace']}/`)).body).toMatchObject({ criticality: null, effective_criticality: 'high' });
  });

  it('exist once under one name: 409 names the first', async () => {
    const again = await api.post('k8sclusters/', { name: 'fra-1', workspace: made['workspace'] });
    expect(again.status).toBe(409);
    expect(again.body.conflict).toEqual({ id: made['cluster'], url: `/api/v1/k8sclusters/${made['cluster']}/` });
    expect((await api.get(`kubernetes/clusters/${again.body.conflict.id}`)).body.name).toBe('fra-1');
  });

  it('keep their name; the refusal says what to use instead', async () => {
    const renamed = await api.send('PATCH', `k8sclusters/${made['cluster']}/`, { body: { name: 'fra-2' } });
    expect([renamed.status, attrs(renamed)]).toEqual([400, ['name']]);
    expect(renamed.body.errors[0].detail).toContain('display_name');
  });

  it('can be sent back whole, as the public SDK does', async () => {
    for (const path of [`organizations/${made['organization']}/`, `workspaces/${made['workspace']}/`, `k8sclusters/${made['cluster']}/`]) {
      const { body } = await api.get(path);
      for (const method of ['PUT', 'PATCH']) {
        const answer = await api.send(method, path, { body: { ...body, display_name: 'Shown', counters: undefined } });
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        expect(answer.body).toMatchObject({ name: body.name, display_name: 'Shown' });
      }
    }
  });

  it('leave out nothing that a PUT does not name', async () => {
    const path = `k8sclusters/${made['cluster']}/`;
    await api.send('PATCH', path, { body: { labels: { env: 'prod' } } });
    await api.send('PUT', path, { body: { display_name: 'Other' } });
    expect((await api.get(path)).body).toMatchObject({ labels: { env: 'prod' }, display_name: 'Other' });
  });

  it('need parents that exist', async () => {
    const ghost = '01a0c450-6c00-71d8-ba12-4b989cad1d3c';
    for (const [path, body, attr] of [
      ['workspaces/', { name: 'x', organization: ghost }, 'organization'],
      ['k8sclusters/', { name: 'x', workspace: ghost }, 'workspace'],
      ['blocks/', { name: 'x', workspace: made['workspace'], k8s_cluster: ghost }, 'k8s_cluster'],
      ['agent-keys/', { name: 'x', workspace: ghost }, 'workspace'],
      ['maintenances/', { start: '2026-10-01T00:00:00Z', end: '2026-10-02T00:00:00Z', k8s_clusters: [ghost] }, 'k8s_clusters'],
      ['organizations/', { name: 'x', maintenance_window: ghost }, 'maintenance_window'],
    ] as const) {
      const answer = await api.post(path, body);
      expect([answer.status, attrs(answer), answer.body.errors[0].code], path).toEqual([400, [attr], 'does_not_exist']);
    }
  });

  it('write who changed what', async () => {
    await api.send('PATCH', `k8sclusters/${made['cluster']}/`, { body: { display_name: 'Audited' } });
    const { objects } = api.services.resources;
    const { ids } = await objects.listIds('audit_event', { organization: made['organization'] ?? null, path: [] }, { limit: 1000 });
    const events = [...(await objects.getMany('audit_event', ids)).values()];
    expect(events.find((event) => JSON.stringify(event.after) === '{"display_name":"Audited"}')).toMatchObject({
      action: 'update',
      object_type: 'k8s_cluster',
      object_id: made['cluster'],
      before: { display_name: 'Other' },
      actor: expect.stringMatching(/^admin \(brk_/),
    });
  });
});

describe('names', () => {
  it.each(['a\nreplicas: 99', ' a', 'a ', '', 'a\u0000', 'e\u0301', 'x'.repeat(254)])(
    'B45 (a) %j is refused when it is saved',
    async (name) => {
      const answer = await api.post('workspaces/', { name, organization: made['organization'] });
      expect([answer.status, attrs(answer)]).toEqual([400, ['name']]);
    },
  );

  it('B54 with separators never meet: two records, each changed alone', async () => {
    const workspaces = await Promise.all(
      ['A#', 'A', 'A#B', '#B'].map((name) => api.post('workspaces/', { name, organization: made['organization'] })),
    );
    const [first, second] = [workspaces[0]?.body.id, workspaces[1]?.body.id];
    const pairs = [
      await api.post('k8sclusters/', { name: 'B', workspace: first }),
      await api.post('k8sclusters/', { name: '#B', workspace: second }),
      await api.post('k8sclusters/', { name: 'A/B%23', workspace: second }),
    ];
    expect(pairs.map((p) => p.status)).toEqual([201, 201, 201]);
    expect(new Set(pairs.map((p) => p.body.id)).size).toBe(3);
    for (const { body } of pairs) expect((await api.get(`k8sclusters/${body.id}/`)).body.name).toBe(body.name);
  });

  it('B54 prod-1 is not prod-10: list, pause and delete prod-1 alone', async () => {
    const workspace = (await api.post('workspaces/', { name: 'b54', organization: made['organization'] })).body.id;
    const [one, ten] = [
      (await api.post('k8sclusters/', { name: 'prod-1', workspace })).body.id,
      (await api.post('k8sclusters/', { name: 'prod-10', workspace })).body.id,
    ];
    expect(names(await api.get(`k8sclusters/?name=prod-1&workspaces=${workspace}`))).toEqual(['prod-1']);
    await api.post(`operator-rollout/${one}/pause/`, { reason: 'b54' });
    expect((await api.get(`k8sclusters/${ten}/`)).body.rollout_override.paused).toBe(false);
    expect((await api.send('DELETE', `k8sclusters/${one}/`)).status).toBe(204);
    expect(names(await api.get(`k8sclusters/?workspaces=${workspace}`))).toEqual(['prod-10']);
  });
});

describe('labels', () => {
  it('hold any text of at most 1 KiB', async () => {
    const path = `k8sclusters/${made['cluster']}/`;
    const twoLines = 'one\nreplicas: 99 "\' #';
    expect((await api.send('PATCH', path, { body: { labels: { note: twoLines, big: 'x'.repeat(1024) } } })).body.labels.note).toBe(
      twoLines,
    );
    const tooBig = await api.send('PATCH', path, { body: { labels: { big: 'é'.repeat(513) } } });
    expect([tooBig.status, attrs(tooBig)]).toEqual([400, ['labels.big']]);
  });

  it.each([[{ a: 1 }], [{ a: null }], ['text'], [[]]] as JsonValue[][])('are texts: %j is refused', async (labels) => {
    expect((await api.send('PATCH', `k8sclusters/${made['cluster']}/`, { body: { labels } })).status).toBe(400);
  });
});

describe('the override of a cluster', () => {
  const patch = (rollout_override: unknown) => api.send('PATCH', `k8sclusters/${made['cluster']}/`, { body: { rollout_override } });

  it('merges, and null takes it away', async () => {
    await patch({ paused: true, pause_reason: 'audit' });
    expect((await patch({ version_override: 'v1.2.3' })).body.rollout_override).toEqual({
      paused: true,
      pause_reason: 'audit',
      paused_until: null,
      version_override: 'v1.2.3',
    });
    expect((await patch({ paused: false })).body.rollout_override).toMatchObject({
      paused: false,
      pause_reason: null,
      version_override: 'v1.2.3',
    });
    expect((await patch(null)).body.rollout_override).toMatchObject({ paused: false, version_override: null });
  });

  it('ends by itself', async () => {
    const until = new Date(api.clock.now() + 60_000).toISOString();
    expect((await patch({ paused: true, paused_until: until })).body.rollout_override.paused_until).toBe(until);
    api.clock.forward(60_000);
    expect((await api.get(`k8sclusters/${made['cluster']}/`)).body.rollout_override.paused).toBe(false);
    expect((await patch({ paused: true, paused_until: until })).status).toBe(400);
    await patch(null);
  });

  it.each([
    [{ version_override: 'latest' }],
    [{ version_override: '1.2' }],
    [{ version_override: '' }],
    [{ paused: 'yes' }],
    [{ until: 1 }],
    [{ pause_reason: 'x' }],
  ])('%j is refused', async (value) => {
    expect((await patch(value)).status).toBe(400);
  });
});

describe('blocks and apps', () => {
  it('are managed by whom the label or the fields say', async () => {
    const block = await api.post('blocks/', {
      name: 'lb',
      workspace: made['workspace'],
      labels: { polycrate_managed_by: 'loadbalancer/7' },
      version: '1.0.0',
    });
    expect(block.body).toMatchObject({
      managed_by: { kind: 'loadbalancer', id: '7' },
      created_by_component: 'api',
      version: '1.0.0',
      auto_rollout: true,
    });
    const path = `blocks/${block.body.id}/`;
    expect((await api.send('PATCH', path, { body: { managed_by_content_type: 12, managed_by_object_id: 'x' } })).body.managed_by).toEqual({
      kind: '12',
      id: 'x',
    });
    expect((await api.send('PATCH', path, { body: { managed_by_content_type: null } })).body.managed_by).toBeNull();
    expect((await api.send('PUT', path, { body: (await api.get(path)).body })).status).toBe(200);
  });

  it('cannot be told what is installed', async () => {
    const { body } = await api.post('k8sapps/', {
      name: 'polycrate-operator',
      k8s_cluster: made['cluster'],
      installed_version: '9.9.9',
      state: 'OK',
    });
    expect(body).toMatchObject({ installed_version: null, state: null, last_reconciled: null });
    expect((await api.post('kubernetes/apps/', { name: 'polycrate-operator', k8s_cluster: made['cluster'] })).status).toBe(409);
    expect(names(await api.get('k8sapps/?name=polycrate-operator'))).toEqual(['polycrate-operator']);
  });
});

describe('maintenances', () => {
  it('end after they begin, and can be ended early', async () => {
    const at = (minutes: number) => new Date(api.clock.now() + minutes * 60_000).toISOString();
    expect(attrs(await api.post('maintenances/', { start: at(10), end: at(10) }))).toEqual(['end']);
    const { body } = await api.post('maintenances/', {
      start: at(0),
      end: at(60),
      organization: made['organization'],
      k8s_clusters: [made['cluster']],
    });
    expect(body.is_active).toBe(true);
    const early = await api.post(`maintenances/${body.id}/complete-early/`);
    expect([early.status, early.body.is_active]).toEqual([200, true]);
    api.clock.forward(2);
    expect((await api.get(`maintenances/${body.id}/`)).body.is_active).toBe(false);
    const later = await api.post('maintenances/', { start: at(10), end: at(20) });
    expect((await api.post(`maintenances/${later.body.id}/complete-early/`)).status).toBe(409);
  });

  it.each(['2026-10-01', '2026-10-01T00:00:00', 'tomorrow', 5, null])('%j is not a time', async (start) => {
    expect(attrs(await api.post('maintenances/', { start, end: '2027-01-01T00:00:00Z' }))).toEqual(['start']);
  });
});

describe('archive', () => {
  it('is refused while something under it is active, unless forced; what is under it goes with it', async () => {
    const organization = (await api.post('organizations/', { name: 'old' })).body.id;
    const workspace = (await api.post('workspaces/', { name: 'w', organization })).body.id;
    const cluster = (await api.post('k8sclusters/', { name: 'c', workspace })).body.id;
    for (const path of [`organizations/${organization}/`, `workspaces/${workspace}/`]) {
      expect((await api.post(`${path}archive/`, { archive_reason: 'over' })).status).toBe(409);
      expect((await api.send('DELETE', path)).status).toBe(409);
    }
    expect((await api.post(`organizations/${organization}/archive/?force=true`, { archive_reason: 'over' })).body).toEqual({
      archived: true,
    });
    expect(names(await api.get(`k8sclusters/?organizations=${organization}`))).toEqual([]);
    expect((await api.get(`k8sclusters/${cluster}/`)).status).toBe(200);
    expect(names(await api.get('organizations/?archived=true'))).toEqual(['old']);
    const again = await api.post('organizations/', { name: 'old' });
    expect([again.status, again.body.errors[0].detail.includes('archived')]).toEqual([409, true]);
    expect(attrs(await api.post('workspaces/', { name: 'x', organization }))).toEqual(['organization']);
    expect((await api.send('POST', `organizations/${organization}/archive/`)).body).toEqual({ archived: false });
    expect(names(await api.get(`k8sclusters/?organizations=${organization}`))).toEqual(['c']);
  });
});

describe('lists', () => {
  it('are paged without gaps, by number and by cursor', async () => {
    const organization = (await api.post('organizations/', { name: 'pages' })).body.id;
    for (let n = 0; n < 7; n++) {
      api.clock.forward(1);
      await api.post('workspaces/', { name: `w${n}`, organization });
    }
    const all = ['w6', 'w5', 'w4', 'w3', 'w2', 'w1', 'w0'];
    const seen: string[] = [];
    let next: string | null = `workspaces/?organizations=${organization}&page_size=3`;
    while (next !== null) {
      const page: Answered = await api.get(next.replace('https://rollout.example', ''));
      expect(page.body.count).toBe(7);
      seen.push(...names(page));
      next = page.body.next;
    }
    expect(seen).toEqual(all);
    const second = await api.get(`workspaces/?organizations=${organization}&page_size=3&page=2`);
    expect(names(second)).toEqual(all.slice(3, 6));
    expect(second.body.previous).toContain('page=1');
    expect(names(await api.get(`workspaces/?organizations=${organization}&page_size=3&page=4`))).toEqual([]);
  });

  it.each([
    ['page_size=0', 'page_size'],
    ['page_size=201', 'page_size'],
    ['page_size=x', 'page_size'],
    ['page=0', 'page'],
    ['page=101&page_size=100', 'page'],
    ['page=1&page=2', 'page'],
    ['page=1&cursor=x', 'page'],
    ['cursor=nonsense', 'cursor'],
    ['archived=maybe', 'archived'],
    ['organizations=acme', 'organizations.0'],
    ['ordering=name', 'ordering'],
    ['state=OK', 'state'],
    ['name=', 'name'],
  ])('refuse %s by name', async (query, attr) => {
    const answer = await api.get(`k8sclusters/?${query}`);
    expect([answer.status, attrs(answer)]).toEqual([400, [attr]]);
  });

  it('filter by name, text, owner and state', async () => {
    expect(names(await api.get('k8sclusters/?search=FRA'))).toEqual(['fra-1']);
    expect(names(await api.get('k8sclusters/?name_exact=fra-1'))).toEqual(['fra-1']);
    expect(names(await api.get(`k8sclusters/?workspaces=${made['workspace']}&active=true`))).toEqual(['fra-1']);
    expect(names(await api.get(`k8sclusters/?workspaces=${made['workspace']}&active=false`))).toEqual([]);
    expect(names(await api.get(`blocks/?k8s_cluster=${made['cluster']}`))).toEqual([]);
  });
});
