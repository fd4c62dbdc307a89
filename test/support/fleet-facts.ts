import { BLOCK_DEFAULTS } from '../../lib/domain/shared/defaults.ts';
import type { Block, K8sApp } from '../../lib/domain/shared/fleet.ts';
import { managed } from './plan-facts.ts';

export function block(parts: Partial<Block> = {}): Block {
  return {
    ...managed('block-1'),
    ...BLOCK_DEFAULTS,
    organization: 'org-1',
    workspace: 'ws-1',
    k8s_cluster: 'cluster-1',
    installed_version: '1.0.0',
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
