import type { Downtime, Listing } from '../../app/ports.ts';
import { createBlock, updateBlock } from '../../app/resources/blocks.ts';
import { createApp, createCluster, updateApp, updateCluster } from '../../app/resources/clusters.ts';
import { listObjects } from '../../app/resources/list.ts';
import { completeMaintenance, createMaintenance, updateMaintenance } from '../../app/resources/maintenances.ts';
import { createOrganization, createWorkspace, updateOrganization, updateWorkspace } from '../../app/resources/organizations.ts';
import type { ResourceServices } from '../../app/resources/services.ts';
import { previewWindow, windowStatus } from '../../app/resources/window-preview.ts';
import { createWindow, updateWindow } from '../../app/resources/windows.ts';
import { find } from '../../app/resources/write.ts';
import type { HandlersOf } from '../api-types.ts';
import { reply } from '../event.ts';
import { envelope } from '../paging.ts';
import { parentsOf } from '../present/common.ts';
import * as present from '../present/fleet.ts';
import { split } from './filters.ts';
import { resourceHandlers } from './resource.ts';

/** Blocks and apps of one cluster are a place of their own: nothing else is read for them. */
async function onCluster(services: ResourceServices, id: string | undefined): Promise<{ within?: Listing }> {
  const cluster = id === undefined ? null : await services.objects.get('k8s_cluster', id);
  return cluster === null ? {} : { within: { organization: cluster.organization, path: [cluster.workspace, cluster.id] } };
}

export const organizationHandlers = (services: ResourceServices): HandlersOf<'organizations'> =>
  resourceHandlers(services, {
    type: 'organization',
    present: async (rows) => rows.map(present.organization),
    create: (body, { actor }) => createOrganization(services, body, actor),
    update: (id, body, { actor }) => updateOrganization(services, id, body, actor),
  });

export const workspaceHandlers = (services: ResourceServices): HandlersOf<'workspaces'> => ({
  ...resourceHandlers(services, {
    type: 'workspace',
    present: async (rows) => {
      const parents = await parentsOf(services.objects, rows);
      const owners = await services.objects.getMany('organization', [...new Set(rows.map((row) => row.organization))]);
      return rows.map((row) => present.workspace(row, parents, owners.get(row.organization)));
    },
    create: (body, { actor }) => createWorkspace(services, body, actor),
    update: (id, body, { actor }) => updateWorkspace(services, id, body, actor),
  }),
  windowStatus: async ({ id }) => reply(200, present.windowStatus(await windowStatus(services, id))),
});

export const windowHandlers = (services: ResourceServices): HandlersOf<'windows'> => ({
  ...resourceHandlers(services, {
    type: 'maintenance_window',
    present: async (rows) => {
      const [parents, { default_window }] = await Promise.all([parentsOf(services.objects, rows), services.settings.read()]);
      return rows.map((row) => present.window(row, parents, default_window === row.id));
    },
    narrow: async ({ is_system_default }) => {
      const { default_window } = await services.settings.read();
      return { also: (row) => is_system_default === undefined || (row.id === default_window) === is_system_default };
    },
    create: (body, { actor }) => createWindow(services, body, actor),
    update: (id, body, { actor }) => updateWindow(services, id, body, actor),
  }),
  preview: async ({ id }) => reply(200, present.windowPreview(await previewWindow(services, id))),
});

export const clusterHandlers = (services: ResourceServices): HandlersOf<'clusters'> =>
  resourceHandlers(services, {
    type: 'k8s_cluster',
    present: async (rows) => {
      const parents = await parentsOf(services.objects, rows);
      return rows.map((row) => present.cluster(row, parents, services.clock.now()));
    },
    narrow: async ({ active }) => ({ also: (row) => active === undefined || row.active === active }),
    create: (body, { actor }) => createCluster(services, body, actor),
    update: (id, body, { actor }) => updateCluster(services, id, body, actor),
  });

export const blockHandlers = (services: ResourceServices): HandlersOf<'blocks'> =>
  resourceHandlers(services, {
    type: 'block',
    present: async (rows) => {
      const parents = await parentsOf(services.objects, rows);
      return rows.map((row) => present.block(row, parents));
    },
    narrow: async ({ k8s_cluster, from_block, version, kind }) => ({
      ...(await onCluster(services, k8s_cluster)),
      also: (row) =>
        (k8s_cluster === undefined || row.k8s_cluster === k8s_cluster) &&
        (from_block === undefined || row.from_block === from_block) &&
        (version === undefined || row.block_version === version) &&
        (kind === undefined || row.kind === kind),
    }),
    create: (body, { actor }) => createBlock(services, body, actor),
    update: (id, body, { actor }) => updateBlock(services, id, body, actor),
  });

export const appHandlers = (services: ResourceServices): HandlersOf<'apps'> =>
  resourceHandlers(services, {
    type: 'k8s_app',
    present: async (rows) => {
      const [parents, blocks] = await Promise.all([
        parentsOf(services.objects, rows),
        services.objects.getMany('block', [...new Set(rows.flatMap((row) => row.block ?? []))]),
      ]);
      return rows.map((row) => present.app(row, parents, blocks.get(row.block ?? '')));
    },
    narrow: async ({ k8s_cluster, state }) => ({
      ...(await onCluster(services, k8s_cluster)),
      also: (row) => (k8s_cluster === undefined || row.k8s_cluster === k8s_cluster) && (state === undefined || row.state === state),
    }),
    create: (body, { actor }) => createApp(services, body, actor),
    update: (id, body, { actor }) => updateApp(services, id, body, actor),
  });

export function maintenanceHandlers(services: ResourceServices): HandlersOf<'maintenances'> {
  const shown = async (rows: Parameters<typeof present.maintenance>[0][]) => {
    const parents = await parentsOf(services.objects, rows);
    return rows.map((row) => present.maintenance(row, parents, services.clock.now()));
  };
  return {
    ...resourceHandlers(services, {
      type: 'maintenance',
      present: (rows) => shown([...rows]),
      narrow: async ({ draft, k8s_cluster }) => ({
        also: (row) =>
          (draft === undefined || row.draft === draft) && (k8s_cluster === undefined || row.k8s_clusters.includes(k8s_cluster)),
      }),
      create: (body, { actor }) => createMaintenance(services, body, actor),
      update: (id, body, { actor }) => updateMaintenance(services, id, body, actor),
    }),
    completeEarly: async ({ id, actor }) => reply(200, (await shown([await completeMaintenance(services, id, actor)]))[0]),
  };
}

export function downtimeHandlers(services: ResourceServices): HandlersOf<'downtimes'> {
  const shown = async (rows: readonly Downtime[]) => {
    const parents = await parentsOf(services.objects, rows);
    return rows.map((row) => present.downtime(row, parents));
  };
  return {
    list: async ({ query, address }) => {
      const { k8s_cluster, kind, is_active } = query;
      const { page, filters } = split(query);
      const also = (row: Downtime): boolean =>
        (k8s_cluster === undefined || row.k8s_cluster === k8s_cluster) &&
        (kind === undefined || row.kind === kind) &&
        (is_active === undefined || (row.ended_at === null) === is_active);
      const found = await listObjects(services, 'downtime', { filters, also }, page);
      return reply(200, envelope(found, await shown(found.rows), page, address));
    },
    get: async ({ id }) => reply(200, (await shown([await find(services, 'downtime', id)]))[0]),
  };
}
