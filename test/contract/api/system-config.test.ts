import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, type Api, startApi } from '../../support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  const organization = (await api.post('organizations/', { name: 'acme' })).body.id;
  const workspace = (await api.post('workspaces/', { name: 'prod', organization })).body.id;
  for (let n = 0; n < 3; n++) await api.post('k8sclusters/', { name: `c${n}`, workspace });
  await patch({ OPERATOR_ROLLOUT_PERCENTAGE: 20 });
});
afterAll(() => api.stop());

const patch = (body: unknown): Promise<Answered> => api.send('PATCH', 'system-config/', { body });
const read = async () => (await api.get('system/config/')).body;

describe('boundary row 9: a wrong percentage', () => {
  it.each([-5, 101, 12.5, '10%', '12.5', 'abc', null, '', true])('%j is refused and 20 stays in force', async (value) => {
    const answer = await patch({ OPERATOR_ROLLOUT_PERCENTAGE: value, other: 1 });
    expect([answer.status, answer.body.errors[0].attr]).toEqual([400, 'OPERATOR_ROLLOUT_PERCENTAGE']);
    expect(await read()).toMatchObject({ OPERATOR_ROLLOUT_PERCENTAGE: 20 });
    expect(await read()).not.toHaveProperty('other');
  });

  it('NaN is no JSON', async () => {
    expect((await api.send('PATCH', 'system-config/', { raw: '{"OPERATOR_ROLLOUT_PERCENTAGE":NaN}' })).status).toBe(400);
  });

  it('"0" is a number', async () => {
    await patch({ OPERATOR_ROLLOUT_PERCENTAGE: '0' });
    expect((await read()).OPERATOR_ROLLOUT_PERCENTAGE).toBe(0);
  });
});

describe('boundary row 8: places of the gate are the same number everywhere', () => {
  it.each([
    [0, 0],
    [1, 1],
    [34, 1],
    [67, 2],
    [100, 3],
  ])('%i %% of 3 clusters is %i', async (percentage, places) => {
    await patch({ OPERATOR_ROLLOUT_PERCENTAGE: percentage });
    expect((await api.get('operator-rollout/')).body.summary).toMatchObject({ percentage, gate_places: places });
  });
});

describe('SystemConfig', () => {
  it.each(['latest', '1.2', '01.2.3', 'V1.2.3', '1.2.3.4', ''])('boundary row 11: OPERATOR_BLOCK_VERSION %j is refused', async (value) => {
    const answer = await patch({ OPERATOR_BLOCK_VERSION: value });
    expect([answer.status, answer.body.errors[0].attr]).toEqual([400, 'OPERATOR_BLOCK_VERSION']);
  });

  it('cannot unset the operator version', async () => {
    expect((await patch({ OPERATOR_BLOCK_VERSION: null })).status).toBe(400);
  });

  it('warns before it calls critical, whichever of the two is changed', async () => {
    expect((await patch({ AGENT_WARNING_AFTER_SECONDS: 301 })).body.errors[0].attr).toBe('AGENT_WARNING_AFTER_SECONDS');
    expect((await patch({ AGENT_CRITICAL_AFTER_SECONDS: 179 })).body.errors[0].attr).toBe('AGENT_CRITICAL_AFTER_SECONDS');
    expect((await patch({ AGENT_WARNING_AFTER_SECONDS: 300 })).status).toBe(200);
    expect((await patch({ AGENT_WARNING_AFTER_SECONDS: 180, AGENT_CRITICAL_AFTER_SECONDS: 180 })).status).toBe(200);
  });

  it('keeps free keys, and null takes them away', async () => {
    expect((await patch({ REGISTRY: 'r.example', flags: { a: [1] } })).body.updated_keys.sort()).toEqual(['REGISTRY', 'flags']);
    expect(await read()).toMatchObject({ REGISTRY: 'r.example', flags: { a: [1] } });
    await patch({ REGISTRY: null });
    expect(await read()).not.toHaveProperty('REGISTRY');
  });

  it('pauses everything with a reason', async () => {
    expect((await patch({ ROLLOUTS_PAUSED: {} })).status).toBe(400);
    expect((await patch({ ROLLOUTS_PAUSED: true })).status).toBe(400);
    expect((await patch({ ROLLOUTS_PAUSED: { reason: 'incident 7' } })).status).toBe(200);
    expect((await read()).ROLLOUTS_PAUSED).toEqual({ reason: 'incident 7' });
    await patch({ ROLLOUTS_PAUSED: null });
    expect((await read()).ROLLOUTS_PAUSED).toBeNull();
  });

  it('says whom a change is meant for, and refuses another number', async () => {
    expect((await patch({ OPERATOR_BLOCK_VERSION: '1.0.0', expected_targets: 2 })).status).toBe(409);
    expect((await read()).OPERATOR_BLOCK_VERSION).toBeNull();
    const before = api.started.length;
    expect((await patch({ OPERATOR_BLOCK_VERSION: '1.0.0', expected_targets: 3 })).body).toEqual({
      status: 'success',
      updated_keys: ['OPERATOR_BLOCK_VERSION'],
      targets_in_scope: 3,
    });
    expect(api.started.length).toBe(before + 1);
    expect((await patch({ OPERATOR_BLOCK_VERSION: '1.0.0' })).body.updated_keys).toEqual([]);
    expect(api.started.length).toBe(before + 1);
  });

  it('reconciles only what reads the changed key', async () => {
    const before = api.started.length;
    await patch({ unrelated: 'x', CERT: '0.9.0' });
    expect(api.started.length).toBe(before);
    await api.post('block-rollout-configs/', {
      ...{
        kind: 'trigger',
        trigger_type: 'reconciliation',
        block_name: 'cert-manager',
        target_version: '{{ system_config.CERT }}',
        name: 'cert',
      },
    });
    const after = api.started.length;
    await patch({ CERT: '1.0.0' });
    expect(api.started.length).toBe(after + 1);
  });
});
