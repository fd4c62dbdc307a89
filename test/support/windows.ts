import { updateOrganization, updateWorkspace } from '../../lib/app/resources/organizations.ts';
import { createWindow, updateWindow, type WindowFields } from '../../lib/app/resources/windows.ts';
import { DAY, HOUR, SECOND } from '../../lib/domain/shared/time.ts';
import type { ClusterSpec } from './world.ts';
import { World } from './world.ts';

/** Agents whose silence nobody minds, so that a test may leap over nights without playing every heartbeat. */
const PATIENT = {
  AGENT_REPORT_INTERVAL_SECONDS: DAY / SECOND,
  AGENT_WARNING_AFTER_SECONDS: (60 * DAY) / SECOND,
  AGENT_CRITICAL_AFTER_SECONDS: (60 * DAY) / SECOND,
};

/** A fleet at an instant, with rules that start everything at once; its tick is rare, since windows must not need it. */
export async function fleetAt(iso: string, specs: readonly ClusterSpec[], tickMs = 6 * HOUR): Promise<World> {
  const world = await World.start({ now: Date.parse(iso), tickMs });
  await world.plainRules();
  await world.addClusters(specs);
  await world.turns();
  return world;
}

/** The operator gets a new version; the agents are patient. */
export const rollOut = (world: World): Promise<void> => world.settings({ ...PATIENT, OPERATOR_BLOCK_VERSION: '2.0.0' });

/** What has started is claimed and done. */
export async function finish(world: World): Promise<void> {
  await world.turns();
  await world.advance(2);
  await world.turns();
}

export async function to(world: World, iso: string): Promise<void> {
  await world.advance((Date.parse(iso) - world.now()) / SECOND);
}

/** When each cluster's attempts started, as `MM-DDTHH:MM` UTC. */
export async function startsByCluster(world: World): Promise<Record<string, string[]>> {
  const names = new Map([...world.hosts].map(([name, host]) => [host.id, name]));
  const starts: Record<string, string[]> = {};
  for (const { id } of await world.waves()) {
    for (const item of await world.items(id)) {
      const runs = [...(await world.services.engine.runs(item.attempts)).values()];
      const name = names.get(item.k8s_cluster ?? '') ?? '';
      starts[name] = [...(starts[name] ?? []), ...runs.map((run) => minuteText(run.dispatched_at))].sort();
    }
  }
  return starts;
}

export const minuteText = (at: number): string => new Date(at).toISOString().slice(5, 16);

/** What people do to windows, as the API does it. */
export function windowsOf(world: World) {
  const { resources } = world.runtime.services;
  return {
    make: async (name: string, fields: WindowFields): Promise<string> => (await createWindow(resources, { name, ...fields }, 'test')).id,
    edit: (id: string, fields: WindowFields) => updateWindow(resources, id, fields, 'test'),
    ofOrganization: (cluster: string, id: string | null) =>
      updateOrganization(resources, world.host(cluster).organization, { maintenance_window: id }, 'test'),
    ofWorkspace: (cluster: string, id: string | null) =>
      updateWorkspace(resources, world.host(cluster).workspace, { maintenance_window: id }, 'test'),
  };
}
