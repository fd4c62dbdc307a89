import type { Ids } from './ports.ts';

/** The parent of all organizations. */
const ROOT = '00000000-0000-7000-8000-000000000000';

/** Ids that follow from the parent and the name: the same name under the same parent is the same object, however often it is made. */
export const derivedId = {
  organization: (ids: Ids, name: string): string => ids.child(ROOT, 'organization', name),
  workspace: (ids: Ids, organization: string, name: string): string => ids.child(organization, 'workspace', name),
  cluster: (ids: Ids, workspace: string, name: string): string => ids.child(workspace, 'k8s_cluster', name),
  /** `parent` is the cluster, or the workspace for a workspace-level block. */
  block: (ids: Ids, parent: string, name: string): string => ids.child(parent, 'block', name),
  app: (ids: Ids, cluster: string, name: string): string => ids.child(cluster, 'k8s_app', name),
  /** A maintenance window that people made; null = the platform's. Those of a fleet file belong to their owner. */
  window: (ids: Ids, organization: string | null, name: string): string => ids.child(organization ?? ROOT, 'named_window', name),
  operatorAgent: (ids: Ids, cluster: string): string => ids.child(cluster, 'agent', 'operator'),
  /** Any further agent: of a cluster, or of a workspace. */
  agent: (ids: Ids, parent: string, reported: string): string => ids.child(parent, 'agent', `reported:${reported}`),
} as const;
