import type { Block, Component, JsonObject, Labels, ManagedBy } from '../../domain/shared/fleet.ts';
import { derivedId } from '../derived-ids.ts';
import { invalid } from '../errors.ts';
import { newBlock } from '../import/records.ts';
import type { ManagedFields } from './organizations.ts';
import type { ResourceServices } from './services.ts';
import { create, edit, findParent, refuseRename, type Touches } from './write.ts';

export interface BlockFields extends ManagedFields {
  readonly kind?: string | null;
  readonly type?: string | null;
  readonly flavor?: string | null;
  readonly from_block?: string | null;
  readonly app?: string | null;
  /** Wire name of the desired block version. */
  readonly version?: string | null;
  readonly config?: JsonObject;
  readonly auto_rollout?: boolean;
  readonly actions?: readonly string[];
  readonly managed_by_content_type?: string | null;
  readonly managed_by_object_id?: string | null;
}

export interface NewBlockFields extends BlockFields {
  readonly name: string;
  readonly workspace: string;
  readonly k8s_cluster?: string | null;
  readonly created_by_component?: Component;
}

const MANAGED_BY_LABEL = 'polycrate_managed_by';

export async function createBlock(services: ResourceServices, fields: NewBlockFields, actor: string): Promise<Block> {
  const workspace = await findParent(services, 'workspace', fields.workspace, 'workspace');
  const cluster = fields.k8s_cluster == null ? null : await findParent(services, 'k8s_cluster', fields.k8s_cluster, 'k8s_cluster');
  if (cluster !== null && cluster.workspace !== workspace.id)
    throw invalid('k8s_cluster', `Cluster "${cluster.name}" is not in workspace "${workspace.name}".`);
  const id = derivedId.block(services.ids, cluster?.id ?? workspace.id, fields.name);
  const parents = { organization: workspace.organization, workspace: workspace.id, k8s_cluster: cluster?.id ?? null };
  const born = newBlock({ id, name: fields.name, now: services.clock.now() }, parents, null);
  const created_by_component = fields.created_by_component ?? 'api';
  const value = { ...blockWith(born, fields), created_by_component };
  return create(services, 'block', value, actor, touchesOf(value));
}

export function updateBlock(services: ResourceServices, id: string, fields: BlockFields, actor: string): Promise<Block> {
  return edit(services, 'block', id, {
    actor,
    change: (before) => {
      refuseRename(before, fields.name);
      return blockWith(before, fields);
    },
    touches: (before, after) => (needsLook(before, after) ? touchesOf(after) : null),
  });
}

const needsLook = (before: Block, after: Block): boolean =>
  before.auto_rollout !== after.auto_rollout ||
  before.from_block !== after.from_block ||
  before.app !== after.app ||
  before.block_version !== after.block_version ||
  before.config !== after.config;

const touchesOf = (block: Pick<Block, 'k8s_cluster' | 'workspace'>): Touches =>
  block.k8s_cluster === null ? { workspaces: [block.workspace] } : { clusters: [block.k8s_cluster] };

function blockWith(before: Block, fields: BlockFields): Block {
  const { version, managed_by_content_type: kind, managed_by_object_id: owner, name: _, ...plain } = fields;
  return {
    ...before,
    ...plain,
    ...(version === undefined ? {} : { block_version: version }),
    managed_by: managedBy(before, { kind, owner, labels: fields.labels }),
  };
}

interface OwnerFields {
  readonly kind: string | null | undefined;
  readonly owner: string | null | undefined;
  readonly labels: Labels | undefined;
}

/** SPEC §1 Block: written through the two reference fields or the label; the fields win. */
function managedBy(before: Block, { kind, owner, labels }: OwnerFields): ManagedBy | null {
  const now = before.managed_by;
  if (kind !== undefined || owner !== undefined) {
    const kindNow = kind === undefined ? (now?.kind ?? null) : kind;
    if (kindNow !== null) return { kind: kindNow, id: owner === undefined ? (now?.id ?? null) : owner };
    if (owner != null)
      throw invalid('managed_by_content_type', 'is needed beside managed_by_object_id: the kind of the owner.', 'required');
    return null;
  }
  if (labels === undefined || labels[MANAGED_BY_LABEL] === before.labels[MANAGED_BY_LABEL]) return now;
  return managedByOf(labels[MANAGED_BY_LABEL]);
}

/** `kind` or `kind/id` (SPEC §1). */
function managedByOf(label: string | undefined): ManagedBy | null {
  if (label === undefined || label === '') return null;
  const slash = label.indexOf('/');
  return slash < 0 ? { kind: label, id: null } : { kind: label.slice(0, slash), id: label.slice(slash + 1) };
}
