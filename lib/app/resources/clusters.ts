import type { K8sApp, K8sCluster, RolloutOverride } from '../../domain/shared/fleet.ts';
import { isSemver } from '../../domain/version/compare.ts';
import { derivedId } from '../derived-ids.ts';
import { invalid } from '../errors.ts';
import { newApp, newCluster } from '../import/records.ts';
import type { ManagedFields } from './organizations.ts';
import type { ResourceServices } from './services.ts';
import { create, edit, findNamed, findParent, refuseRename } from './write.ts';

export interface ClusterFields extends ManagedFields {
  readonly active?: boolean;
  /** Fields left out stay as they are; null takes the whole override away. */
  readonly rollout_override?: Partial<RolloutOverride> | null;
}

const NO_OVERRIDE: RolloutOverride = { paused: false, pause_reason: null, paused_until: null, version_override: null };

/** SPEC §5: what an administrator says about one cluster. A pause that is taken back takes its reason and end along. */
export function overrideWith(before: RolloutOverride, given: Partial<RolloutOverride> | null | undefined, now: number): RolloutOverride {
  if (given === undefined) return before;
  if (given === null) return NO_OVERRIDE;
  const after = { ...before, ...given };
  if (after.version_override !== null && !isSemver(after.version_override))
    throw invalid('rollout_override.version_override', `"${after.version_override}" is not a semantic version such as 1.2.3.`);
  if (!after.paused) {
    if (given.paused_until || given.pause_reason)
      throw invalid('rollout_override.paused', 'must be true when a reason or an end is given.');
    return { ...after, pause_reason: null, paused_until: null };
  }
  const until = given.paused_until;
  if (typeof until === 'number' && until <= now)
    throw invalid('rollout_override.paused_until', 'must be in the future; null = until somebody resumes it.');
  return after;
}

export async function createCluster(
  services: ResourceServices,
  fields: ClusterFields & { readonly name: string; readonly workspace: string },
  actor: string,
): Promise<K8sCluster> {
  const workspace = await findParent(services, 'workspace', fields.workspace, 'workspace');
  const now = services.clock.now();
  const id = derivedId.cluster(services.ids, workspace.id, fields.name);
  const born = newCluster(
    { id, name: fields.name, now },
    { organization: workspace.organization, workspace: workspace.id, k8s_cluster: null },
  );
  const rollout_override = overrideWith(born.rollout_override, fields.rollout_override, now);
  return create(services, 'k8s_cluster', { ...born, ...fields, rollout_override }, actor, { clusters: [id] });
}

export function updateCluster(services: ResourceServices, id: string, fields: ClusterFields, actor: string): Promise<K8sCluster> {
  return edit(services, 'k8s_cluster', id, {
    actor,
    change: (before) => {
      refuseRename(before, fields.name);
      return {
        ...before,
        ...fields,
        rollout_override: overrideWith(before.rollout_override, fields.rollout_override, services.clock.now()),
      };
    },
    touches: (before, after) => (needsLook(before, after) ? { clusters: [id] } : null),
  });
}

/** What decides whether the cluster is in a scope, and what it should have (SPEC §2.9). A pause asks for nothing new. */
function needsLook(before: K8sCluster, after: K8sCluster): boolean {
  return (
    before.active !== after.active ||
    before.labels !== after.labels ||
    before.rollout_override.version_override !== after.rollout_override.version_override
  );
}

export interface AppFields extends ManagedFields {
  readonly block?: string | null;
  readonly excluded_from_downtime_until?: number | null;
}

export async function createApp(
  services: ResourceServices,
  fields: AppFields & { readonly name: string; readonly k8s_cluster: string },
  actor: string,
): Promise<K8sApp> {
  const cluster = await findParent(services, 'k8s_cluster', fields.k8s_cluster, 'k8s_cluster');
  await requireBlock(services, fields.block, cluster.id);
  const id = derivedId.app(services.ids, cluster.id, fields.name);
  const parents = { organization: cluster.organization, workspace: cluster.workspace, k8s_cluster: cluster.id };
  return create(services, 'k8s_app', { ...newApp({ id, name: fields.name, now: services.clock.now() }, parents, null), ...fields }, actor);
}

export function updateApp(services: ResourceServices, id: string, fields: AppFields, actor: string): Promise<K8sApp> {
  return edit(services, 'k8s_app', id, {
    actor,
    change: async (before) => {
      refuseRename(before, fields.name);
      await requireBlock(services, fields.block, before.k8s_cluster);
      return { ...before, ...fields };
    },
  });
}

async function requireBlock(services: ResourceServices, id: string | null | undefined, cluster: string): Promise<void> {
  if (id === undefined || id === null) return;
  const block = await findNamed(services, 'block', id, 'block');
  if (block.k8s_cluster !== cluster) throw invalid('block', `Block "${block.name}" is not on this cluster.`);
}
