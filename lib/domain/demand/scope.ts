import type { K8sCluster, Labels, Organization, Workspace } from '../shared/fleet.ts';
import type { BlockRolloutConfig } from '../shared/rollout.ts';
import { matches, parseSelector, type Selector } from './selector.ts';

export { matches, parseSelector, type Requirement } from './selector.ts';

/** SPEC §1: organization < workspace < cluster; the nearer one wins. */
export function effectiveLabels(organization: Labels, workspace: Labels, cluster: Labels | null): Labels {
  return { ...organization, ...workspace, ...cluster };
}

export interface ScopeTarget {
  readonly kind: 'k8s_cluster' | 'workspace';
  readonly organization: string;
  readonly workspace: string;
  /** Effective labels. */
  readonly labels: Labels;
  /** It, its workspace or its organization is archived, or the cluster is inactive (SPEC §1, §2.8). */
  readonly gone: boolean;
}

type Owner<T extends Organization | Workspace | K8sCluster> = Pick<T, 'id' | 'labels' | 'archived'>;

export function scopeTarget(
  organization: Owner<Organization>,
  workspace: Owner<Workspace>,
  cluster: (Owner<K8sCluster> & Pick<K8sCluster, 'active'>) | null,
): ScopeTarget {
  return {
    kind: cluster === null ? 'workspace' : 'k8s_cluster',
    organization: organization.id,
    workspace: workspace.id,
    labels: effectiveLabels(organization.labels, workspace.labels, cluster?.labels ?? null),
    gone: organization.archived || workspace.archived || (cluster !== null && (cluster.archived || !cluster.active)),
  };
}

export type ScopeConfig = Pick<BlockRolloutConfig, 'target_kind' | 'target_organizations' | 'target_workspaces' | 'scope_expressions'>;

/** SPEC §1 Scope, for one target. For many targets of one config, `scopeOf` reads the expressions once. */
export function inScope(config: ScopeConfig, target: ScopeTarget): boolean {
  return scopeOf(config)(target);
}

/**
 * The two lists are a union, and only lists that are stored empty mean all; an archived member stays in its list and matches
 * nothing. All scope expressions must match. An expression that cannot be read matches nothing.
 */
export function scopeOf(config: ScopeConfig): (target: ScopeTarget) => boolean {
  const organizations = new Set(config.target_organizations);
  const workspaces = new Set(config.target_workspaces);
  const everyone = organizations.size === 0 && workspaces.size === 0;
  const selectors: Selector[] = [];
  for (const text of config.scope_expressions) {
    const parsed = parseSelector(text);
    if (!parsed.ok) return () => false;
    selectors.push(parsed.selector);
  }
  return (target) =>
    target.kind === config.target_kind &&
    !target.gone &&
    (everyone || organizations.has(target.organization) || workspaces.has(target.workspace)) &&
    selectors.every((s) => matches(s, target.labels));
}
