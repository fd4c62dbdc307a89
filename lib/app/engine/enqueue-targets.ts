import { type ScopeTarget, scopeTarget } from '../../domain/demand/scope.ts';
import type { Block, K8sApp, K8sCluster, Organization, Workspace } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { derivedId } from '../derived-ids.ts';
import type { KeyPage } from '../ports.ts';
import { decodeStretch } from './enqueue-pages.ts';
import type { EnqueueRun } from './enqueue-run.ts';
import type { EngineServices } from './services.ts';
import { appIdOf } from './target-facts.ts';

/** A cluster or a workspace that a config may concern. */
export interface Target {
  readonly organization: Organization;
  readonly workspace: Workspace;
  readonly cluster: K8sCluster | null;
  readonly scope: ScopeTarget;
}

/** A target with the block that the config means there; null = it has none yet (SPEC §2.4). */
export interface TargetBlock {
  readonly target: Target;
  readonly block: Block | null;
  readonly app: K8sApp | null;
}

/** The targets of one page, with workspaces and organizations; the ones that are no more are left out. */
export async function readPage(
  services: EngineServices,
  run: EnqueueRun,
  page: { from: string | null; to: string | null },
): Promise<Target[]> {
  if (page.from === null) return [];
  const stretch = decodeStretch(page.from);
  const kind = stretch.type === 'named' ? stretch.kind : stretch.type;
  const ids =
    stretch.type === 'named'
      ? (stretch.kind === 'workspace' ? run.workspaces : run.clusters).slice(stretch.offset, stretch.offset + 100)
      : await listed(services, stretch, page.to);
  return kind === 'workspace' ? workspaceTargets(services, ids) : clusterTargets(services, ids);
}

/** After the cursor and up to the page's last id, also when targets were added in between meanwhile. */
async function listed(
  services: EngineServices,
  stretch: Exclude<ReturnType<typeof decodeStretch>, { type: 'named' }>,
  to: string | null,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor = stretch.cursor;
  do {
    const page: KeyPage = await services.objects.listIds(stretch.type, stretch.where, { cursor, limit: 100 });
    const last = to === null ? -1 : page.ids.indexOf(to);
    ids.push(...(last < 0 ? page.ids : page.ids.slice(0, last + 1)));
    cursor = last < 0 && ids.length < 1_000 ? page.cursor : null;
  } while (cursor !== null);
  return ids;
}

async function clusterTargets(services: EngineServices, ids: readonly string[]): Promise<Target[]> {
  const clusters = [...(await services.objects.getMany('k8s_cluster', ids)).values()];
  const owners = await readOwners(
    services,
    clusters.map((c) => c.workspace),
  );
  return clusters.flatMap((cluster) => {
    const owner = owners.get(cluster.workspace);
    return owner === undefined ? [] : [{ ...owner, cluster, scope: scopeTarget(owner.organization, owner.workspace, cluster) }];
  });
}

async function workspaceTargets(services: EngineServices, ids: readonly string[]): Promise<Target[]> {
  const owners = await readOwners(services, ids);
  return [...owners.values()].map((o) => ({ ...o, cluster: null, scope: scopeTarget(o.organization, o.workspace, null) }));
}

async function readOwners(
  services: EngineServices,
  ids: readonly string[],
): Promise<Map<string, { workspace: Workspace; organization: Organization }>> {
  const workspaces = await services.objects.getMany('workspace', [...new Set(ids)]);
  const organizations = await services.objects.getMany('organization', [...new Set([...workspaces.values()].map((w) => w.organization))]);
  return new Map(
    [...workspaces.values()].flatMap((workspace) => {
      const organization = organizations.get(workspace.organization);
      return organization === undefined ? [] : [[workspace.id, { workspace, organization }] as const];
    }),
  );
}

/** SPEC §1: `block_name` matches a block's name or its from_block. A target without such a block stands with null. */
export async function withBlocks(services: EngineServices, config: BlockRolloutConfig, targets: readonly Target[]): Promise<TargetBlock[]> {
  const name = config.block_name ?? '';
  const parentOf = (t: Target): string => t.cluster?.id ?? t.workspace.id;
  const own = new Map(targets.map((t) => [parentOf(t), derivedId.block(services.ids, parentOf(t), name)]));
  const derived = await derivedBlocks(services, name, targets);
  const blocks = await services.objects.getMany('block', [...own.values(), ...derived]);
  const apps = await services.objects.getMany('k8s_app', [
    ...[...blocks.values()].flatMap((b) => appIdOf(services, b) ?? []),
    ...targets.flatMap((t) => (t.cluster === null ? [] : [derivedId.app(services.ids, t.cluster.id, name.split('/').at(-1) ?? name)])),
  ]);
  const madeFrom = [...blocks.values()].filter((b) => b.from_block === name && b.name !== name);
  return targets.flatMap((target) => {
    const block = blocks.get(own.get(parentOf(target)) ?? '') ?? null;
    const others = madeFrom.filter((b) =>
      target.cluster === null ? b.k8s_cluster === null && b.workspace === target.workspace.id : b.k8s_cluster === target.cluster.id,
    );
    const found = block === null && others.length > 0 ? others : [block, ...others];
    return found.map((b) => ({ target, block: b, app: apps.get(appIdFor(services, target, b, name) ?? '') ?? null }));
  });
}

function appIdFor(services: EngineServices, target: Target, block: Block | null, name: string): string | null {
  if (block !== null) return appIdOf(services, block);
  return target.cluster === null ? null : derivedId.app(services.ids, target.cluster.id, name.split('/').at(-1) ?? name);
}

/** One query for a page of one organization; a page of named clusters asks for each cluster. */
async function derivedBlocks(services: EngineServices, name: string, targets: readonly Target[]): Promise<string[]> {
  const organizations = [...new Set(targets.map((t) => t.organization.id))];
  return (await Promise.all(organizations.map((organization) => services.engine.blocksFrom(name, organization, [])))).flat();
}
