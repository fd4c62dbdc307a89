import type { Block, K8sApp } from '../../lib/domain/shared/fleet.ts';
import { managed } from './plan-facts.ts';

export function block(parts: Partial<Block> = {}): Block {
  return {
    ...managed('block-1'),
    organization: 'org-1',
    workspace: 'ws-1',
    k8s_cluster: 'cluster-1',
    from_block: null,
    app: null,
    block_version: null,
    installed_version: '1.0.0',
    installed_at: null,
    config: {},
    config_hash: null,
    created_by_component: 'api',
    managed_by: null,
    auto_rollout: true,
    created_by_brc: null,
    managed_by_brc: null,
    installation_status: 'idle',
    last_installed_at: null,
    actions: [],
    kind: null,
    type: null,
    flavor: null,
    active_item: null,
    remembered: {},
    ...parts,
  };
}

export function app(parts: Partial<K8sApp> = {}): K8sApp {
  return {
    ...managed('app-1'),
    organization: 'org-1',
    workspace: 'ws-1',
    k8s_cluster: 'cluster-1',
    block: 'block-1',
    installed_version: '1.0.0',
    last_reconciled: null,
    state: null,
    excluded_from_downtime_until: null,
    ...parts,
  };
}
