import * as z from 'zod';
import * as agents from '../agents.ts';
import * as clusters from '../clusters.ts';
import { appState } from '../common.ts';
import * as maintenances from '../maintenances.ts';
import * as organizations from '../organizations.ts';
import { filter, listQuery, ownedHistoryQuery, ownedListQuery } from '../paging.ts';
import { readRoutes, resourceRoutes, route } from '../route.ts';
import * as windows from '../windows.ts';

/** Objects that people keep: the fleet and its maintenances. */
export const fleetRoutes = {
  organizations: resourceRoutes({
    path: 'organizations',
    word: 'organization',
    one: organizations.organization,
    create: organizations.createOrganization,
    update: organizations.updateOrganization,
    query: listQuery({}),
  }),
  workspaces: {
    ...resourceRoutes({
      path: 'workspaces',
      word: 'workspace',
      one: organizations.workspace,
      create: organizations.createWorkspace,
      update: organizations.updateWorkspace,
      query: ownedListQuery({}),
    }),
    windowStatus: route({
      path: 'workspaces/{id}/maintenance-window-status',
      method: 'GET',
      right: 'read_all',
      summary: 'The maintenance window that counts for a workspace, and whether it is open',
      answers: { 200: windows.windowStatus },
    }),
  },
  clusters: resourceRoutes({
    path: 'k8sclusters',
    aliases: ['kubernetes/clusters'],
    word: 'cluster',
    one: clusters.cluster,
    create: clusters.createCluster,
    update: clusters.updateCluster,
    query: ownedListQuery({ active: filter.flag.exactOptional() }),
  }),
  blocks: resourceRoutes({
    path: 'blocks',
    word: 'block',
    one: clusters.block,
    create: clusters.createBlock,
    update: clusters.updateBlock,
    query: ownedListQuery({
      k8s_cluster: filter.id.exactOptional(),
      from_block: filter.text.exactOptional(),
      version: filter.text.exactOptional(),
      kind: filter.text.exactOptional(),
    }),
  }),
  apps: resourceRoutes({
    path: 'k8sapps',
    aliases: ['kubernetes/apps'],
    word: 'app',
    one: clusters.app,
    create: clusters.createApp,
    update: clusters.updateApp,
    query: ownedListQuery({ k8s_cluster: filter.id.exactOptional(), state: appState.exactOptional() }),
  }),
  agents: {
    ...readRoutes({
      path: 'agents',
      word: 'agent',
      row: agents.agent,
      one: agents.agent,
      query: ownedHistoryQuery({
        k8s_cluster: filter.id.exactOptional(),
        kind: filter.choices(agents.agentKind).exactOptional(),
        version: filter.text.exactOptional(),
        online_status: filter.flag.exactOptional(),
      }),
    }),
    rebind: route({
      path: 'agents/{id}/rebind',
      method: 'POST',
      right: 'admin',
      summary: 'Let an agent report from another host: its cluster was rebuilt',
      request: z.strictObject({}),
      answers: { 200: agents.agent },
    }),
  },
  maintenances: {
    ...resourceRoutes({
      path: 'maintenances',
      word: 'maintenance',
      one: maintenances.maintenance,
      create: maintenances.createMaintenance,
      update: maintenances.updateMaintenance,
      query: ownedListQuery({ draft: filter.flag.exactOptional(), k8s_cluster: filter.id.exactOptional() }),
    }),
    completeEarly: route({
      path: 'maintenances/{id}/complete-early',
      method: 'POST',
      right: 'admin',
      summary: 'End a maintenance now',
      request: z.strictObject({}),
      answers: { 200: maintenances.maintenance },
      conflicts: true,
    }),
  },
  windows: {
    ...resourceRoutes({
      path: 'maintenance-windows',
      word: 'maintenance window',
      one: windows.window,
      create: windows.createWindow,
      update: windows.updateWindow,
      query: ownedListQuery({ is_system_default: filter.flag.exactOptional() }),
    }),
    preview: route({
      path: 'maintenance-windows/{id}/preview',
      method: 'GET',
      right: 'read_all',
      summary: 'When a maintenance window opens and closes',
      answers: { 200: windows.windowPreview },
    }),
  },
  downtimes: readRoutes({
    path: 'downtimes',
    word: 'downtime',
    row: maintenances.downtime,
    one: maintenances.downtime,
    query: ownedListQuery({
      k8s_cluster: filter.id.exactOptional(),
      kind: maintenances.downtimeKind.exactOptional(),
      is_active: filter.flag.exactOptional(),
    }),
  }),
} as const;
