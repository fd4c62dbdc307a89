import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, type Api, startApi } from '../../support/api.ts';

let api: Api;
const made: Record<string, string> = {};

/** Two organizations with 10 clusters: alpha has workspace prod (4) and prod-eu (1), beta has prod (5). */
beforeAll(async () => {
  api = await startApi();
  for (const organization of ['alpha', 'beta']) made[organization] = (await api.post('organizations/', { name: organization })).body.id;
  for (const [organization, name, count, env] of [
    ['alpha', 'prod', 4, 'prod'],
    ['alpha', 'prod-eu', 1, 'staging'],
    ['beta', 'prod', 5, 'prod'],
  ] as const) {
    const workspace = await api.post('workspaces/', { name, organization: made[organization], labels: { env } });
    made[`${organization}/${name}`] = workspace.body.id;
    for (let n = 1; n <= count; n++) await api.post('k8sclusters/', { name: `c${n}`, workspace: workspace.body.id });
  }
});
afterAll(() => api.stop());

const attrs = (answer: Answered): string[] => answer.body.errors.map((e: { attr: string }) => e.attr);
const trigger = { kind: 'trigger', trigger_type: 'reconciliation', block_name: 'ayedo/k8s/cert-manager', target_version: '1.16.0' };
const create = (fields: object) => api.post('block-rollout-configs/', { ...trigger, ...fields });
let serial = 0;
const fresh = () => ({ block_name: `block-${++serial}` });

describe('B42 B43 a template that cannot be rendered is refused when it is saved', () => {
  it.each([
    ['target_version', '{{ system_config.OPERATOR_BLOCK_VERSION', /^line 1/],
    ['target_version', '{{ range.constructor("return process")() }}', /^line 1/],
    ['target_version', '{{ clustr.name }}', /^line 1: clustr is not defined/],
    ['target_version', '{{ system_config.NOBODY_SET_IT }}', /system_config.NOBODY_SET_IT is not defined/],
    ['target_version', '{{ "" }}', /empty/],
    ['template_block', '{% include "/etc/passwd" %}', /include/],
    ['block_config_template', 'a: 1\nregion: {{ cluster.regoin }}\n', /^line 2: cluster.regoin is not defined/],
    ['block_config_template', 'a: 1\nb: {{ now }}\n', /^line 2: "now"/],
    ['block_config_template', 'replicas: 3\nx: 1\nreplicas: 5\n', /line 3/],
    ['block_config_template', '- a\n- b\n', /must be a map/],
    ['block_config_template', '{% for i in range(3000000) %}{% endfor %}', /range/],
  ])('%s: %s', async (field, template, detail) => {
    const answer = await create({ ...fresh(), [field]: template });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ code: 'template_error', attr: field }] } });
    expect(answer.body.errors[0].detail).toMatch(detail);
  });

  it('also on a change, and each field that is wrong is named; another change of the same config is not held up', async () => {
    const { body } = await create({ ...fresh(), target_version: '1.0.0' });
    const path = `block-rollout-configs/${body.id}/`;
    const wrong = await api.send('PATCH', path, { body: { target_version: '{{ a }}', block_config_template: 'b: {{ c }}' } });
    expect([wrong.status, attrs(wrong)]).toEqual([400, ['target_version', 'block_config_template']]);
    expect((await api.send('PATCH', path, { body: { max_retries: 1 } })).status).toBe(200);
    expect((await api.get(path)).body).toMatchObject({ target_version: '1.0.0', block_config_template: null });
  });

  it.each([
    ['{{ cluster.labels.version }}', 'k8s_cluster'],
    ["{{ workspace.labels['example.org/version'] }}", 'workspace'],
    ["{{ organization.labels.get('version') }}", 'k8s_cluster'],
    ["{% for name in ['a', 'b'] %}{{ cluster.labels[name] }}{% endfor %}", 'k8s_cluster'],
    ['{{ system_config.OPERATOR_BLOCK_VERSION }}', 'k8s_cluster'],
  ])('not for labels, which are each target’s own: %s', async (target_version, target_kind) => {
    expect((await create({ ...fresh(), target_version, target_kind })).status).toBe(201);
  });

  it('a cluster is nothing that a workspace’s template can ask for', async () => {
    const answer = await create({ ...fresh(), target_version: '{{ cluster.name }}', target_kind: 'workspace' });
    expect([answer.status, attrs(answer)]).toEqual([400, ['target_version']]);
  });
});

describe('B61 scope', () => {
  it.each([
    ['(a) missing lists mean the whole fleet, and the answer says how many', () => ({}), 10],
    ['(b) empty lists too', () => ({ target_organizations: [], target_workspaces: [] }), 10],
    ['(c) organization 1 with empty workspaces', () => ({ target_organizations: [made['alpha']], target_workspaces: [] }), 5],
    ['(e) workspace prod, not prod-eu', () => ({ target_workspaces: [made['alpha/prod']] }), 4],
    ['the two lists are a union', () => ({ target_organizations: [made['beta']], target_workspaces: [made['alpha/prod-eu']] }), 6],
    ['all expressions must match', () => ({ scope_expressions: ['env in (prod,dev)', '!legacy'] }), 9],
    ['nobody', () => ({ scope_expressions: ['env=nowhere'] }), 0],
    ['workspaces instead of clusters', () => ({ target_kind: 'workspace' }), 3],
  ])('%s', async (_, scope, expected) => {
    const answer = await create({ ...fresh(), ...scope() });
    expect([answer.status, answer.body.targets_in_scope]).toEqual([201, expected]);
    const preview = await api.get(`block-rollout-configs/${answer.body.id}/preview/?page_size=200`);
    expect([preview.body.targets_in_scope, preview.body.results.length]).toEqual([expected, expected]);
  });

  it('(d) an unknown workspace is refused', async () => {
    const answer = await create({ ...fresh(), target_workspaces: ['01a0c450-6c00-71d8-ba12-4b989cad1d3c'] });
    expect([answer.status, attrs(answer), answer.body.errors[0].code]).toEqual([400, ['target_workspaces'], 'does_not_exist']);
  });

  it('an archived member stays in the list and matches nothing: never "all" instead', async () => {
    const organization = (await api.post('organizations/', { name: 'gone' })).body.id;
    const { body } = await create({ ...fresh(), target_organizations: [organization] });
    await api.send('DELETE', `organizations/${organization}/?force=true`);
    const again = await api.send('PUT', `block-rollout-configs/${body.id}/`, {
      body: (await api.get(`block-rollout-configs/${body.id}/`)).body,
    });
    expect([again.status, again.body.targets_in_scope, again.body.target_organizations]).toEqual([200, 0, [organization]]);
  });

  it('a PUT without the lists keeps them', async () => {
    const { body } = await create({ ...fresh(), target_organizations: [made['alpha']] });
    const put = await api.send('PUT', `block-rollout-configs/${body.id}/`, {
      body: { ...trigger, block_name: body.block_name, enqueue_reason: 'x' },
    });
    expect(put.body).toMatchObject({ targets_in_scope: 5, target_organizations: [made['alpha']], target_organization_names: ['alpha'] });
  });

  it('another number than expected refuses the write and says the number', async () => {
    const refused = await create({ ...fresh(), expected_targets: 9 });
    expect(refused.status).toBe(409);
    expect(refused.body.errors[0].detail).toContain('10 targets');
    const { body } = await create({ ...fresh(), expected_targets: 10 });
    const path = `block-rollout-configs/${body.id}/`;
    expect((await api.send('PATCH', path, { body: { scope_expressions: ['env=prod'], expected_targets: 10 } })).status).toBe(409);
    expect((await api.get(path)).body.scope_expressions).toEqual([]);
    expect((await api.post(`${path}trigger-now/`, { expected_targets: 3 })).status).toBe(409);
    expect((await api.get(`block-rollouts/?rollout_config=${body.id}`)).body.count).toBe(0);
  });
});

describe('a config', () => {
  it.each([
    [{ block_name: null }, 'block_name'],
    [{ trigger_type: null }, 'trigger_type'],
    [{ trigger_type: '' }, 'trigger_type'],
    [{ trigger_type: 'sometimes' }, 'trigger_type'],
    [{ action_name: 'status' }, 'action_name'],
    [{ trigger_type: 'schedule' }, 'cron_expression'],
    [{ time_zone: 'Europe/Berln' }, 'time_zone'],
    [{ target_version: '' }, 'target_version'],
    [{ scope_expressions: ['env in ('] }, 'scope_expressions.0'],
    [{ scope_expressions: ['env=prod', ''] }, 'scope_expressions.1'],
    [{ scope_expressions: 'env=prod' }, 'scope_expressions'],
    [{ target_organizations: null }, 'target_organizations'],
    [{ target_organizations: ['alpha'] }, 'target_organizations.0'],
    [{ max_concurrent_percent: 0 }, 'max_concurrent_percent'],
    [{ max_concurrent_percent: '10%' }, 'max_concurrent_percent'],
    [{ failure_threshold_percent: 12.5 }, 'failure_threshold_percent'],
    [{ active: 'yes' }, 'active'],
    [{ maintenance_window: '01a0c450-6c00-71d8-ba12-4b989cad1d3c' }, 'maintenance_window'],
    [{ no_such_field: 1 }, 'no_such_field'],
    [{ config_to_credential_mappings: [{ credential_name: 'a' }] }, 'config_to_credential_mappings.0.config_path'],
  ])('%j is refused by its field', async (fields, attr) => {
    const answer = await create({ ...fresh(), ...fields });
    expect([answer.status, attrs(answer)]).toEqual([400, [attr]]);
  });

  it.each(['', '* * * *', '60 * * * *', '0 2 * * ? *', '0 0 30 2 *'])(
    'boundary row 7: cron %j is refused when it is saved',
    async (cron_expression) => {
      const answer = await create({ ...fresh(), trigger_type: 'schedule', cron_expression });
      expect([answer.status, attrs(answer)]).toEqual([400, ['cron_expression']]);
    },
  );

  it('shows when it fires next', async () => {
    const { body } = await create({ ...fresh(), trigger_type: 'schedule', cron_expression: '30 4 * * *', time_zone: 'Europe/Berlin' });
    expect(body.next_fire_at).toMatch(/T02:30:00\.000Z$/);
    expect((await api.send('PATCH', `block-rollout-configs/${body.id}/`, { body: { active: false } })).body.next_fire_at).toBeNull();
  });

  it('null inherits, except on the system config', async () => {
    const { body } = await create({ ...fresh(), max_concurrent_percent: null });
    expect(body.max_concurrent_percent).toBeNull();
    const system = (await api.get('block-rollout-configs/?kind=config')).body.results[0];
    const refused = await api.send('PATCH', `block-rollout-configs/${system.id}/`, { body: { max_retries: null } });
    expect([refused.status, attrs(refused), refused.body.errors[0].code]).toEqual([400, ['max_retries'], 'null']);
    expect((await api.get(`block-rollout-configs/${system.id}/`)).body.max_retries).toBe(2);
    const second = await api.post('block-rollout-configs/', { ...system, kind: 'config', is_system_config: true, name: 'second' });
    expect([second.status, attrs(second), second.body.errors[0].code]).toEqual([400, ['non_field_errors'], 'unique']);
  });

  it('is of kind config unless it says otherwise; a trigger has to say so', async () => {
    const bare = await api.post('block-rollout-configs/', { name: 'x' });
    expect([bare.status, bare.body.kind, bare.body.is_system_config]).toEqual([201, 'config', false]);
    const { kind, ...unsaid } = { ...trigger, ...fresh() };
    const refused = await api.post('block-rollout-configs/', unsaid);
    expect([refused.status, attrs(refused), refused.body.errors[0].code]).toEqual([400, ['kind'], 'required']);
    expect((await api.post('block-rollout-configs/', { ...unsaid, kind })).status).toBe(201);
  });

  it('has one of two trigger types, or none', async () => {
    const refused = await create({ ...fresh(), trigger_type: 'cron' });
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ code: 'invalid_choice', detail: 'must be reconciliation or schedule.', attr: 'trigger_type' }],
    ]);
    for (const trigger_type of ['', null]) {
      const none = await create({ ...fresh(), trigger_type });
      expect([none.status, attrs(none), none.body.errors[0].code]).toEqual([400, ['trigger_type'], 'required']);
    }
  });

  it('gets a new template revision when its target or template changes, and only then', async () => {
    const { body } = await create(fresh());
    const path = `block-rollout-configs/${body.id}/`;
    const revision = async (fields: object) => (await api.send('PATCH', path, { body: fields })).body.template_revision;
    expect(await revision({ max_retries: 1 })).toBe(1);
    expect(await revision({ target_version: '1.17.0' })).toBe(2);
    expect(await revision({ target_version: '1.17.0' })).toBe(2);
    expect(await revision({ block_config_template: 'a: 1\n' })).toBe(3);
  });

  it('does not undo what another one does on the same target', async () => {
    const block = fresh();
    await create({ ...block, target_organizations: [made['alpha']] });
    const opposite = { ...block, action_name: 'uninstall', target_version: null };
    const refused = await create({ ...opposite, target_workspaces: [made['alpha/prod']] });
    expect([refused.status, attrs(refused)]).toEqual([400, ['action_name']]);
    expect((await create({ ...opposite, target_organizations: [made['beta']] })).status).toBe(201);
    expect((await create({ ...opposite, active: false })).status).toBe(201);
  });

  it('asks for work in the same write, once per change', async () => {
    const before = api.started.length;
    const { body } = await create(fresh());
    expect(api.started.length).toBe(before + 1);
    await api.send('PATCH', `block-rollout-configs/${body.id}/`, { body: {} });
    expect(api.started.length).toBe(before + 1);
  });

  it('is not triggered when it is inactive or only holds defaults', async () => {
    const { body } = await create({ ...fresh(), active: false });
    expect((await api.post(`block-rollout-configs/${body.id}/trigger-now/`)).status).toBe(409);
    const system = (await api.get('block-rollout-configs/?kind=config')).body.results[0];
    expect((await api.post(`block-rollout-configs/${system.id}/trigger-now/`)).status).toBe(409);
  });

  it('is archived by DELETE and comes back', async () => {
    const { body } = await create({ ...fresh(), name: 'nightly' });
    const path = `block-rollout-configs/${body.id}/`;
    expect((await api.send('DELETE', path)).status).toBe(204);
    expect((await api.get('block-rollout-configs/?name=nightly')).body.count).toBe(0);
    expect((await create({ ...fresh(), name: 'nightly' })).status).toBe(409);
    expect((await api.post(`${path}archive/`)).body).toEqual({ archived: false });
    expect((await api.get('block-rollout-configs/?name=nightly')).body.count).toBe(1);
  });
});
