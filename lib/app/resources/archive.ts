import type { Block, K8sCluster } from '../../domain/shared/fleet.ts';
import { conflict } from '../errors.ts';
import type { ObjectType, ObjectTypes } from '../ports.ts';
import { everyRow } from './list.ts';
import type { ResourceServices } from './services.ts';
import { edit, find, type Touches } from './write.ts';

/** SPEC §2.8: what can be archived, and brought back. */
export type Archivable = 'organization' | 'workspace' | 'k8s_cluster' | 'block' | 'k8s_app' | 'maintenance' | 'block_rollout_config';

export interface ArchiveRequest {
  readonly actor: string;
  readonly reason: string | null;
  /** Also when something under it is active. */
  readonly force: boolean;
}

export async function archive<T extends Archivable>(
  services: ResourceServices,
  type: T,
  id: string,
  request: ArchiveRequest,
): Promise<ObjectTypes[T]> {
  if (!request.force) await refuseWhileActive(services, type, await find(services, type, id));
  const now = services.clock.now();
  return edit(services, type, id, {
    actor: request.actor,
    action: 'archive',
    change: (before) => (before.archived ? before : { ...before, archived: true, archived_at: now, archived_reason: request.reason }),
    touches: (_, after) => touchedBy(type, after),
  });
}

export async function unarchive<T extends Archivable>(
  services: ResourceServices,
  type: T,
  id: string,
  actor: string,
): Promise<ObjectTypes[T]> {
  return edit(services, type, id, {
    actor,
    action: 'unarchive',
    change: (before) => ({ ...before, archived: false, archived_at: null, archived_reason: null }),
    touches: (_, after) => touchedBy(type, after),
  });
}

/** Archived targets leave every scope and their blocks' owners; what is back may need something. */
function touchedBy(type: Archivable, value: ObjectTypes[Archivable]): Touches | null {
  switch (type) {
    case 'organization':
      return { organizations: [value.id] };
    case 'workspace':
      return { workspaces: [value.id] };
    case 'k8s_cluster':
      return { clusters: [value.id] };
    case 'block':
    case 'k8s_app':
      return 'k8s_cluster' in value && value.k8s_cluster !== null ? { clusters: [value.k8s_cluster] } : null;
    case 'block_rollout_config':
      return { rollout_config: value.id };
    case 'maintenance':
      return null;
  }
}

const HOW = 'Archive them first, or repeat with ?force=true.';

async function refuseWhileActive<T extends ObjectType>(services: ResourceServices, type: T, value: ObjectTypes[T]): Promise<void> {
  const where = whereOf(type, value);
  if (where === null) return;
  const busy = (await everyRow(services, 'block', where)).filter((block: Block) => block.active_item !== null && !block.archived);
  const [block] = busy;
  if (block !== undefined)
    throw conflict(
      `${busy.length} of its blocks have an active rollout item, e.g. "${block.name}". Let them end or skip them first, or repeat with ?force=true.`,
    );
  if (type === 'k8s_cluster') return;
  const active = (await everyRow(services, 'k8s_cluster', where)).filter((cluster: K8sCluster) => cluster.active && !cluster.archived);
  const [cluster] = active;
  if (cluster !== undefined) throw conflict(`${active.length} clusters in it are active, e.g. "${cluster.name}". ${HOW}`);
}

function whereOf<T extends ObjectType>(type: T, value: ObjectTypes[T]): { organization: string; path: string[] } | null {
  if (type === 'organization') return { organization: value.id, path: [] };
  if (!('organization' in value) || typeof value.organization !== 'string') return null;
  if (type === 'workspace') return { organization: value.organization, path: [value.id] };
  if (type === 'k8s_cluster' && 'workspace' in value && typeof value.workspace === 'string')
    return { organization: value.organization, path: [value.workspace, value.id] };
  return null;
}
