import type { K8sCluster, Organization, Workspace } from '../../domain/shared/fleet.ts';
import { type ScopeConfig, scopeOf, scopeTarget } from '../../domain/demand/scope.ts';
import type { ObjectStore } from '../ports.ts';
import { everyOrganization, everyRow } from './list.ts';

/** One thing that a config may act on. */
export interface Target {
  readonly organization: Organization;
  readonly workspace: Workspace;
  /** null for a workspace-level target. */
  readonly cluster: K8sCluster | null;
}

export const targetId = (target: Target): string => target.cluster?.id ?? target.workspace.id;

/** SPEC §1 "Scope": every target that the config means now, by organization, workspace and cluster name. */
export async function targetsInScope(services: { readonly objects: ObjectStore }, config: ScopeConfig): Promise<Target[]> {
  const covers = scopeOf(config);
  const organizations = await organizationsOf(services, config);
  const targets = (await Promise.all(organizations.map((organization) => targetsOf(services, config, organization)))).flat();
  return targets.filter(({ organization, workspace, cluster }) => covers(scopeTarget(organization, workspace, cluster))).sort(byName);
}

/** Only organizations that the lists lead to are read; both lists empty = all of them. */
async function organizationsOf({ objects }: { readonly objects: ObjectStore }, config: ScopeConfig): Promise<Organization[]> {
  const { target_organizations, target_workspaces } = config;
  if (target_organizations.length === 0 && target_workspaces.length === 0) return everyOrganization({ objects });
  const workspaces = await objects.getMany('workspace', target_workspaces);
  const wanted = new Set([...target_organizations, ...[...workspaces.values()].map((workspace) => workspace.organization)]);
  return [...(await objects.getMany('organization', [...wanted])).values()];
}

async function targetsOf(services: { readonly objects: ObjectStore }, config: ScopeConfig, organization: Organization): Promise<Target[]> {
  const where = { organization: organization.id, path: [] };
  const workspaces = new Map((await everyRow(services, 'workspace', where)).map((workspace) => [workspace.id, workspace]));
  if (config.target_kind === 'workspace') return [...workspaces.values()].map((workspace) => ({ organization, workspace, cluster: null }));
  return (await everyRow(services, 'k8s_cluster', where)).flatMap((cluster) => {
    const workspace = workspaces.get(cluster.workspace);
    return workspace === undefined ? [] : [{ organization, workspace, cluster }];
  });
}

const nameOf = (target: Target): string => [target.organization.name, target.workspace.name, target.cluster?.name ?? ''].join('\u0000');
const byName = (a: Target, b: Target): number => (nameOf(a) < nameOf(b) ? -1 : 1);
