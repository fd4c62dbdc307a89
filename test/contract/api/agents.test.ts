import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { agentReportAnswer } from '../../../lib/contracts/api/agent.ts';
import { type Api, startApi } from '../../support/api.ts';

let api: Api;
let workspace: string;
let cluster: string;
let key: string;
let keyId: string;

beforeAll(async () => {
  api = await startApi();
  const organization = (await api.post('organizations/', { name: 'acme' })).body.id;
  workspace = (await api.post('workspaces/', { name: 'prod', organization })).body.id;
  cluster = (await api.post('k8sclusters/', { name: 'fra-1', workspace })).body.id;
  const made = await api.post('agent-keys/', { name: 'fra-1', workspace, k8s_cluster: cluster });
  key = made.body.key;
  keyId = made.body.id;
});
afterAll(() => api.stop());

const report = {
  kind: 'operator',
  version: '1.0.0',
  cluster: { uid: 'uid-1', name: 'fra-1' },
  apps: [{ name: 'polycrate-operator', installed_version: '1.0.0' }],
};
const beat = (body: unknown = report, with_ = key) => api.send('POST', 'agent/health/', { key: with_, body });

describe('an agent key', () => {
  it('comes once, with a manifest that is ready to apply', async () => {
    const { body } = await api.post('agent-keys/', { name: 'with: colon', workspace, k8s_cluster: cluster });
    const [secret, config] = parseAllDocuments(body.manifest).map((document) => document.toJS());
    expect(secret).toMatchObject({ kind: 'Secret', stringData: { token: body.key } });
    expect(config).toMatchObject({
      kind: 'OperatorConfig',
      spec: { credentials_ref: { secret_name: secret.metadata.name, token_key: 'token' } },
    });
    for (const path of ['agent-keys/', `agent-keys/${body.id}/`])
      expect(JSON.stringify((await api.get(path)).body)).not.toContain(body.key.slice(-38));
    expect((await api.get(`api-keys/${body.id}/`)).status).toBe(404);
  });

  it('is for one workspace and, if asked, one of its clusters', async () => {
    const other = await api.post('workspaces/', { name: 'other', organization: (await api.get('organizations/')).body.results[0].id });
    const wrong = await api.post('agent-keys/', { name: 'x', workspace: other.body.id, k8s_cluster: cluster });
    expect([wrong.status, wrong.body.errors[0].attr]).toEqual([400, 'k8s_cluster']);
  });
});

describe('a report', () => {
  it('registers and answers as documented', async () => {
    const answer = await beat();
    expect(answer.status).toBe(201);
    expect(agentReportAnswer.parse(answer.body)).toMatchObject({
      workspace_name: 'prod',
      k8s_cluster_id: cluster,
      next_report_seconds: 60,
    });
    const row = (await api.get('operator-rollout/')).body.results[0];
    expect(row).toMatchObject({ installed_version: '1.0.0', state: 'OK', silent_for_seconds: 0 });
  });

  it('may say more than is known here, but not something wrong', async () => {
    expect((await beat({ ...report, brand_new: { nested: [1] }, resource_metrics: { cpu: 1 } })).status).toBe(201);
    for (const [wrong, attr] of [
      [{ ...report, kind: 'robot' }, 'kind'],
      [{ ...report, apps: [{ installed_version: '1' }] }, 'apps.0.name'],
      [{ ...report, cluster: { uid: '' } }, 'cluster.uid'],
      [{ ...report, running_action_runs: ['x'] }, 'running_action_runs.0'],
    ] as const) {
      const answer = await beat(wrong);
      expect([answer.status, answer.body.errors[0].attr]).toEqual([400, attr]);
    }
  });

  it('for a cluster that is another host is refused', async () => {
    expect((await beat({ ...report, cluster: { uid: 'uid-2' } })).status).toBe(409);
  });

  it('ends with its key', async () => {
    const other = (await api.post('agent-keys/', { name: 'short', workspace, k8s_cluster: cluster })).body;
    expect((await beat(report, other.key)).status).toBe(201);
    expect((await api.send('DELETE', `agent-keys/${other.id}/`)).status).toBe(204);
    expect((await api.send('DELETE', `agent-keys/${other.id}/`)).status).toBe(204);
    expect((await beat(report, other.key)).status).toBe(401);
    expect((await beat()).status).toBe(201);
    expect((await api.get('agent-keys/?archived=true')).body.results.map((k: { id: string }) => k.id)).toContain(other.id);
    expect(keyId).not.toBe(other.id);
  });
});

describe('a result', () => {
  const ghost = '01a0c450-6c00-71d8-ba12-4b989cad1d3c';
  const finish = (body: unknown) =>
    api.send('POST', `agent/action-runs/${ghost}/finish/`, { key, body, headers: { 'x-cluster-uid': 'uid-1' } });

  it.each([
    [{}, 'exit_code'],
    [{ exit_code: null }, 'exit_code'],
    [{ exit_code: '0' }, 'exit_code'],
    [{ exit_code: 0.5 }, 'exit_code'],
    [{ status: 'success' }, 'status'],
    [{ exit_code: 0, stdout: 5 }, 'stdout'],
    [{ exit_code: 0, output: '' }, 'output'],
  ])('%j is refused by its field', async (body, attr) => {
    const answer = await finish(body);
    expect([answer.status, answer.body.errors.map((e: { attr: string }) => e.attr)]).toEqual([400, [attr]]);
  });

  it('may have 5 MB', async () => {
    expect((await finish({ exit_code: 0, stdout: 'x'.repeat(4_900_000) })).status).toBe(404);
    expect((await finish({ exit_code: 0, stdout: 'x'.repeat(5_300_000) })).status).toBe(413);
  });
});
