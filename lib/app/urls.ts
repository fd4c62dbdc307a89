/** Where an object is read: the one list of paths that answers and refusals name. */
const PATHS = {
  organization: 'organizations',
  workspace: 'workspaces',
  k8s_cluster: 'k8sclusters',
  block: 'blocks',
  k8s_app: 'k8sapps',
  agent: 'agents',
  maintenance: 'maintenances',
  maintenance_window: 'maintenance-windows',
  downtime: 'downtimes',
  block_rollout_config: 'block-rollout-configs',
  block_rollout: 'block-rollouts',
  block_rollout_item: 'block-rollout-items',
  action_run: 'action-runs',
  api_key: 'api-keys',
  agent_key: 'agent-keys',
  import: 'import',
} as const;

export type Addressed = keyof typeof PATHS;

export const urlOf = (what: Addressed, id: string): string => `/api/v1/${PATHS[what]}/${id}/`;
