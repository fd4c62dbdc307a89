import * as z from 'zod';
import { appState, componentName, id, idIn, instantIn, instantOut, jsonObject, name, reason, versionText } from './common.ts';
import { managedIn, managedOut, reference, requestObject } from './managed.ts';

/** SPEC §1: clusters, their blocks and their apps. */

export const cluster = z
  .object({
    ...managedOut,
    organization: reference.nullable(),
    workspace: reference.nullable(),
    active: z.boolean(),
    rollout_override: z.object({
      paused: z.boolean(),
      pause_reason: z.string().nullable(),
      paused_until: instantOut.nullable(),
      version_override: z.string().nullable(),
    }),
  })
  .meta({ id: 'K8sCluster' });

/** Fields left out stay as they are; null takes the whole override away. */
const rolloutOverride = z.strictObject({
  paused: z.boolean().exactOptional(),
  pause_reason: reason.nullable().exactOptional(),
  paused_until: instantIn.nullable().exactOptional(),
  version_override: versionText.nullable().exactOptional(),
});
const CLUSTER_OWNED = [
  ...['organization', 'organization_id', 'block', 'kubernetes_apps', 'kubernetes_version', 'installed', 'cluster_domain', 'alias', 'kind'],
  ...[
    'is_host_cluster',
    'is_infrastructure_cluster',
    'credential',
    'addons',
    'backup_schedules',
    'operator_loglevel',
    'managed_by_content_type',
  ],
  ...['operator_ignore_namespaces', 'discovery_ignored_namespaces', 'managed_by_object_id', 'criticality', 'created_by_component'],
];
const clusterFields = {
  ...managedIn,
  active: z.boolean().exactOptional(),
  rollout_override: rolloutOverride.nullable().exactOptional(),
};
export const createCluster = requestObject({ ...clusterFields, name, workspace: idIn }, CLUSTER_OWNED).meta({ id: 'CreateK8sCluster' });
export const updateCluster = requestObject(clusterFields, [...CLUSTER_OWNED, 'workspace', 'workspace_id']).meta({ id: 'UpdateK8sCluster' });

export const block = z
  .object({
    ...managedOut,
    organization: reference.nullable(),
    workspace: reference.nullable(),
    k8s_cluster: id.nullable(),
    kind: z.string().nullable(),
    type: z.string().nullable(),
    flavor: z.string().nullable(),
    from_block: z.string().nullable(),
    app: z.string().nullable(),
    version: z.string().nullable(),
    installed_version: z.string().nullable(),
    installed: z.boolean(),
    update_needed: z.boolean(),
    last_installed_at: instantOut.nullable(),
    installation_status: z.enum(['idle', 'installing', 'uninstalling', 'install_failed', 'uninstall_failed']),
    config: jsonObject,
    config_hash: z.string().nullable(),
    created_by_component: componentName,
    managed_by: z.object({ kind: z.string(), id: z.string().nullable() }).nullable(),
    managed_by_content_type: z.string().nullable(),
    managed_by_object_id: z.string().nullable(),
    auto_rollout: z.boolean(),
    created_by_brc: id.nullable(),
    managed_by_brc: id.nullable(),
    actions: z.array(z.string()),
    active_item: id.nullable(),
  })
  .meta({ id: 'Block' });

const BLOCK_OWNED = [
  ...[
    'organization',
    'organization_id',
    'installed_version',
    'installed',
    'update_needed',
    'last_installed_at',
    'installation_status',
    'config_hash',
  ],
  ...[
    'managed_by',
    'created_by_brc',
    'managed_by_brc',
    'active_item',
    'active_rollout',
    'is_behind_stable',
    'latest_stable',
    'template',
    'checksum',
  ],
  ...[
    'template_block',
    'registry_url',
    'full_spec',
    'user_spec',
    'app_version',
    'description',
    'supports_ha',
    'block_poly_raw',
    'readme_md_raw',
  ],
  ...['changelog_poly_raw', 'examples_poly_raw', 'changelog_poly_parsed', 'criticality'],
];
const ownerText = z.union([z.string().min(1).max(253), z.number().int()]).transform(String);
const blockFields = {
  ...managedIn,
  kind: z.string().max(100).nullable().exactOptional(),
  type: z.string().max(100).nullable().exactOptional(),
  flavor: z.string().max(100).nullable().exactOptional(),
  from_block: name.nullable().exactOptional(),
  app: name.nullable().exactOptional(),
  version: versionText.nullable().exactOptional(),
  config: jsonObject.exactOptional(),
  auto_rollout: z.boolean().exactOptional(),
  actions: z.array(z.string().min(1).max(100)).max(200).exactOptional(),
  managed_by_content_type: ownerText.nullable().exactOptional(),
  managed_by_object_id: ownerText.nullable().exactOptional(),
};
export const createBlock = requestObject(
  {
    ...blockFields,
    name,
    workspace: idIn,
    k8s_cluster: idIn.nullable().exactOptional(),
    created_by_component: componentName.exactOptional(),
  },
  BLOCK_OWNED,
).meta({ id: 'CreateBlock' });
export const updateBlock = requestObject(blockFields, [
  ...BLOCK_OWNED,
  ...['workspace', 'workspace_id', 'k8s_cluster', 'created_by_component'],
]).meta({ id: 'UpdateBlock' });

export const app = z
  .object({
    ...managedOut,
    organization: reference.nullable(),
    workspace: reference.nullable(),
    k8s_cluster: id,
    block: id.nullable(),
    installed_version: z.string().nullable(),
    desired_version: z.string().nullable(),
    last_reconciled: instantOut.nullable(),
    last_reconciliation: instantOut.nullable(),
    state: appState.nullable(),
    excluded_from_downtime_until: instantOut.nullable(),
  })
  .meta({ id: 'K8sApp' });

const APP_OWNED = [
  ...[
    'organization',
    'organization_id',
    'workspace',
    'workspace_id',
    'installed_version',
    'desired_version',
    'last_reconciled',
    'kind',
    'namespace',
  ],
  ...[
    'installed',
    'uninstalled',
    'active',
    'source',
    'created_by_component',
    'managed_by_content_type',
    'managed_by_object_id',
    'criticality',
  ],
];
const appFields = {
  ...managedIn,
  block: idIn.nullable().exactOptional(),
  excluded_from_downtime_until: instantIn.nullable().exactOptional(),
};
export const createApp = requestObject({ ...appFields, name, k8s_cluster: idIn }, APP_OWNED).meta({ id: 'CreateK8sApp' });
export const updateApp = requestObject(appFields, [...APP_OWNED, 'k8s_cluster']).meta({ id: 'UpdateK8sApp' });

export const labelKeys = z.object({ label_keys: z.array(z.string()) }).meta({ id: 'LabelKeys' });
