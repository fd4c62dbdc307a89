import { scheduledFrom } from '../../domain/recurrence/schedule.ts';
import type { Block, K8sCluster } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { conflict } from '../errors.ts';
import type { ObjectType, ObjectTypes } from '../ports.ts';
import { configTouches, refuseRevived } from './configs.ts';
import { everyRow } from './list.ts';
import type { ResourceServices } from './services.ts';
import { refuseWhileNamed } from './windows.ts';
import { edit, find, type Touches } from './write.ts';

/** SPEC §2.8: what can be archived, and brought back. */
export type Archivable =
  | 'organization'
  | 'workspace'
  | 'k8s_cluster'
  | 'block'
  | 'k8s_app'
  | 'maintenance'
  | 'maintenance_window'
  | 'block_rollout_config';

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
  if (type === 'block_rollout_config') await refuseSystemConfig(services, id);
  if (!request.force) await refuseWhileActive(services, type, await find(services, type, id));
  const now = services.clock.now();
  return edit(services, type, id, {
    actor: request.actor,
    action: 'archive',
    change: (before) => (before.archived ? before : { ...before, archived: true, archived_at: now, archived_reason: request.reason }),
    touches: (before, after) => touchedBy(before, after, type),
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
    change: async (before) => {
      const after = { ...before, archived: false, archived_at: null, archived_reason: null };
      if (!isConfig(type, after) || !isConfig(type, before)) return after;
      await refuseRevived(services, after);
      return { ...after, ...scheduledFrom(before, after, services.clock.now()) };
    },
    touches: (before, after) => touchedBy(before, after, type),
  });
}

const isConfig = (type: Archivable, value: ObjectTypes[Archivable]): value is BlockRolloutConfig =>
  type === 'block_rollout_config' && 'trigger_type' in value;

/** Others inherit from it, or the fleet's operator hangs on it (SPEC §1, §5). */
async function refuseSystemConfig(services: ResourceServices, id: string): Promise<void> {
  const config = await find(services, 'block_rollout_config', id);
  if (config.is_system_config)
    throw conflict(`"${config.name}" is a system config and cannot be archived; set active to false to stop what it starts.`);
}

/** Archived targets leave every scope and their blocks' owners; what is back may need something. */
function touchedBy(before: ObjectTypes[Archivable], value: ObjectTypes[Archivable], type: Archivable): Touches | null {
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
      return isConfig(type, before) && isConfig(type, value) ? configTouches(before, value) : null;
    case 'maintenance':
    case 'maintenance_window':
      return null;
  }
}

const HOW = 'Archive them first, or repeat with ?force=true.';

async function refuseWhileActive<T extends ObjectType>(services: ResourceServices, type: T, value: ObjectTypes[T]): Promise<void> {
  if ('time_slots' in value) return refuseWhileNamed(services, value);
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
