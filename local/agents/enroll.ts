import * as z from 'zod';
import type { ApiClient } from '../api-client.ts';
import type { VirtualCluster } from './virtual-agent.ts';

const KEY_NAME = 'virtual agents';
const AT_ONCE = 8;

const named = z.object({ name: z.string() });
const workspaceRow = z.object({ id: z.string(), name: z.string(), organization: named.nullable() });
const clusterRow = z.object({ id: z.string(), name: z.string(), workspace: named.nullable(), organization: named.nullable() });
const appRow = z.object({
  name: z.string(),
  k8s_cluster: z.string(),
  installed_version: z.string().nullable(),
  last_reconciled: z.string().nullable(),
});
const runRow = z.object({
  k8s_cluster: z.string().nullable(),
  action: z.string(),
  phase: z.string(),
  block: named,
  rendered_target_version: z.string().nullable(),
});

/** Agent keys through the API, one per workspace of the fleet: `organization/workspace` → key. */
export async function makeKeys(api: ApiClient, workspaces: ReadonlySet<string>, signal: AbortSignal): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  const wanted: { path: string; id: string }[] = [];
  for await (const row of api.all('workspaces/?page_size=200', workspaceRow)) {
    const path = `${row.organization?.name ?? ''}/${row.name}`;
    if (workspaces.has(path)) wanted.push({ path, id: row.id });
  }
  const worker = async () => {
    for (let next = wanted.pop(); next !== undefined && !signal.aborted; next = wanted.pop()) {
      const made = await api.post('agent-keys/', z.object({ key: z.string() }), { name: KEY_NAME, workspace: next.id });
      keys.set(next.path, made.key);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return keys;
}

/**
 * After a restart: the fleet file says how the clusters began, the service what their agents reported since. What was finished but not yet
 * reported is in the runs that wait for it.
 */
export async function restore(api: ApiClient, clusters: ReadonlyMap<string, VirtualCluster>): Promise<void> {
  const byId = new Map<string, VirtualCluster>();
  for await (const row of api.all('k8sclusters/?page_size=200', clusterRow)) {
    const cluster = clusters.get(`${row.organization?.name ?? ''}/${row.workspace?.name ?? ''}/${row.name}`);
    if (cluster !== undefined) byId.set(row.id, cluster);
  }
  for await (const row of api.all('k8sapps/?page_size=200', appRow)) {
    const cluster = byId.get(row.k8s_cluster);
    if (cluster === undefined || row.last_reconciled === null) continue;
    // Without a version it is gone, or there in a version that nobody knows: only the fleet file can tell.
    if (row.installed_version !== null || cluster.place.apps.has(row.name)) cluster.apps.set(row.name, row.installed_version);
    else cluster.apps.delete(row.name);
  }
  for await (const run of api.all('action-runs/?page_size=200&status=running', runRow)) {
    const cluster = byId.get(run.k8s_cluster ?? '');
    if (cluster === undefined || (run.phase !== 'verifying' && run.phase !== 'soaking')) continue;
    const app = cluster.appOf(run.block.name);
    if (run.action === 'uninstall') cluster.apps.delete(app);
    else if (run.rendered_target_version !== null) cluster.apps.set(app, run.rendered_target_version);
  }
}
