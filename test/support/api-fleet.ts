import { expect } from 'vitest';
import type { Answered, Api } from './api.ts';

/** Sends and expects a success; its body. */
export async function done(answer: Promise<Answered>): Promise<Answered['body']> {
  const { status, body } = await answer;
  expect([status, JSON.stringify(body)]).toEqual([expect.toSatisfy((s: number) => s >= 200 && s < 300), expect.anything()]);
  return body;
}

/** One organization with a workspace, a cluster, its agent key and a block, made through the API itself. */
export async function makeFleet(api: Api, name = 'acme') {
  const organization = await done(api.post('organizations/', { name }));
  const workspace = await done(api.post('workspaces/', { name: 'prod', organization: organization.id }));
  const cluster = await done(api.post('k8sclusters/', { name: 'fra-1', workspace: workspace.id }));
  const made = await done(api.post('agent-keys/', { name: `${name} fra-1`, workspace: workspace.id, k8s_cluster: cluster.id }));
  const block = await done(
    api.post('blocks/', { name: 'ayedo/k8s/cert-manager', workspace: workspace.id, k8s_cluster: cluster.id, version: '1.15.0' }),
  );
  const agentKey: string = made.key;
  return { organization, workspace, cluster, block, agentKey, agentKeyId: made.id as string };
}
