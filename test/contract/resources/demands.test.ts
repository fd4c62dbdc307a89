import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorConfigId } from '../../../lib/app/engine/configs.ts';
import type { EnqueueRun } from '../../../lib/app/engine/enqueue-run.ts';
import { updateCluster } from '../../../lib/app/resources/clusters.ts';
import { type Api, startApi } from '../../support/api.ts';
import { done, makeFleet } from '../../support/api-fleet.ts';

let api: Api;
let fleet: Awaited<ReturnType<typeof makeFleet>>;
beforeAll(async () => {
  api = await startApi();
  fleet = await makeFleet(api);
});
afterAll(() => api.stop());

const patch = (path: string, body: unknown) => done(api.send('PATCH', path, { body }));

/** What a change asked reconciliation to look at, as it is kept in the table. */
async function askedBy(change: () => Promise<unknown>): Promise<Partial<EnqueueRun>[]> {
  const before = api.started.length;
  await change();
  const runs = api.started.slice(before).flatMap((text) => (text.startsWith('enqueue ') ? [text.slice(8)] : []));
  const found = await Promise.all(runs.map((id) => api.services.engine.engine.enqueueRun(id)));
  return found.map((run) => {
    const { kind, rollout_config, clusters, workspaces, organizations, allow_downgrade } = run ?? ({} as EnqueueRun);
    return { kind, rollout_config, clusters, workspaces, organizations, allow_downgrade };
  });
}

const nothing = { kind: 'reconcile', rollout_config: null, clusters: [], workspaces: [], organizations: [], allow_downgrade: false };
const trigger = { kind: 'trigger', trigger_type: 'reconciliation', block_name: 'b1', target_version: '1.0.0' };
const configs = 'block-rollout-configs/';

describe('a change asks for a look at what it touches, and at nothing else (SPEC §2.9)', () => {
  it('labels of a cluster, a workspace, an organization', async () => {
    const { cluster, workspace, organization } = fleet;
    const labels = { env: 'prod' };
    expect(await askedBy(() => patch(`k8sclusters/${cluster.id}/`, { labels }))).toEqual([{ ...nothing, clusters: [cluster.id] }]);
    expect(await askedBy(() => patch(`workspaces/${workspace.id}/`, { labels }))).toEqual([{ ...nothing, workspaces: [workspace.id] }]);
    expect(await askedBy(() => patch(`organizations/${organization.id}/`, { labels }))).toEqual([
      { ...nothing, organizations: [organization.id] },
    ]);
  });

  it('an object sent back whole with another display name asks for nothing', async () => {
    for (const path of [`k8sclusters/${fleet.cluster.id}/`, `organizations/${fleet.organization.id}/`, `blocks/${fleet.block.id}/`]) {
      const whole = await done(api.get(path));
      expect(await askedBy(() => done(api.send('PUT', path, { body: { ...whole, display_name: `${path} shown` } }))), path).toEqual([]);
    }
  });

  it('an override of the version, not a pause', async () => {
    const path = `k8sclusters/${fleet.cluster.id}/`;
    expect(await askedBy(() => patch(path, { rollout_override: { version_override: '1.0.0' } }))).toHaveLength(1);
    expect(await askedBy(() => patch(path, { rollout_override: { paused: true } }))).toEqual([]);
    expect(await askedBy(() => patch(path, { rollout_override: null }))).toHaveLength(1);
  });

  it('auto_rollout and the archive of a block', async () => {
    const path = `blocks/${fleet.block.id}/`;
    const here = [{ ...nothing, clusters: [fleet.cluster.id] }];
    expect(await askedBy(() => patch(path, { auto_rollout: false }))).toEqual(here);
    expect(await askedBy(() => done(api.post(`${path}archive/`, { archive_reason: 'x' })))).toEqual(here);
    expect(await askedBy(() => done(api.post(`${path}archive/`)))).toEqual(here);
  });

  it('a config, while it acts; one that stops leaves its targets to others', async () => {
    const organization = fleet.organization.id;
    let id = '';
    const made = await askedBy(async () => {
      id = (await done(api.post(configs, { ...trigger, target_organizations: [organization] }))).id;
    });
    const own = [{ ...nothing, rollout_config: id }];
    const others = [{ ...nothing, organizations: [organization] }];
    expect(made).toEqual(own);
    expect(await askedBy(() => patch(`${configs}${id}/`, { active: false }))).toEqual(others);
    expect(await askedBy(() => patch(`${configs}${id}/`, { max_retries: 1 }))).toEqual([]);
    expect(await askedBy(() => patch(`${configs}${id}/`, { active: true }))).toEqual(own);
    expect(await askedBy(() => done(api.post(`${configs}${id}/archive/`, { archive_reason: 'x' })))).toEqual(others);
    expect(await askedBy(() => done(api.post(`${configs}${id}/archive/`)))).toEqual(own);
  });

  it('a setting, for the configs that read it; whole reads count', async () => {
    await patch('system-config/', { CERT: '0.9.0' });
    const one = (await done(api.post(configs, { ...trigger, block_name: 'b2', target_version: '{{ system_config.CERT }}' }))).id;
    const whole = (
      await done(
        api.post(configs, { ...trigger, block_name: 'b3', block_config_template: "a: {{ system_config['CE' ~ 'RT'] | tojson }}\n" }),
      )
    ).id;
    const asked = await askedBy(() => patch('system-config/', { CERT: '1.0.0' }));
    expect(asked.map((run) => run.rollout_config).sort()).toEqual([one, whole].sort());
    for (const id of [one, whole]) await done(api.post(`${configs}${id}/archive/`, { archive_reason: 'x' }));
  });

  it('allow_downgrade goes along with the version alone, also when it was forgotten the first time', async () => {
    const operator = operatorConfigId(api.services.ids);
    const asked = (body: object) => askedBy(() => patch('system-config/', body));
    const look = { ...nothing, rollout_config: operator };
    expect(await asked({ OPERATOR_BLOCK_VERSION: '2.0.0' })).toEqual([look]);
    expect(await asked({ OPERATOR_BLOCK_VERSION: '1.0.0' })).toEqual([look]);
    expect(await asked({ OPERATOR_BLOCK_VERSION: '1.0.0' })).toEqual([]);
    expect(await asked({ OPERATOR_BLOCK_VERSION: '1.0.0', allow_downgrade: true })).toEqual([{ ...look, allow_downgrade: true }]);
    expect(await asked({ other: 1, allow_downgrade: true })).toEqual([]);
  });
});

it('what a change asks for stands in the table even if nothing can be started', async () => {
  const { resources, engine } = api.services;
  const refused = {
    ...resources,
    demands: { run: () => Promise.reject(new Error('no workflow service')) },
    changes: { changed: () => Promise.reject(new Error('nobody follows')) },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  const due = async () => engine.engine.dueEnqueueRuns(api.clock.now() + 60_000, 1000);
  const before = new Set(await due());
  await updateCluster(refused, fleet.cluster.id, { labels: { stands: 'yes' } }, 'test');
  const left = (await due()).filter((id) => !before.has(id));
  expect(left).toHaveLength(1);
  expect(await engine.engine.enqueueRun(left[0] ?? '')).toMatchObject({
    status: 'open',
    clusters: [fleet.cluster.id],
    requested_by: 'test',
  });
});
