import { FOREVER } from '../../app/agents/presence.ts';
import type { Ids } from '../../app/ports.ts';
import type { K8sCluster } from '../../domain/shared/fleet.ts';
import { keys } from './keys.ts';
import { PRESENCE } from './presence-row.ts';
import type { Action } from './transact.ts';

const counted = (c: K8sCluster | null): boolean => c?.active === true && !c.archived;
const paused = (c: K8sCluster | null): boolean => counted(c) && c?.rollout_override.paused === true;
const pausedUntil = (c: K8sCluster | null): number | null =>
  c?.rollout_override.paused === true ? (c.rollout_override.paused_until ?? FOREVER) : null;
const one = (yes: boolean): number => (yes ? 1 : 0);

/** The id of the operator agent of a cluster. */
const operatorAgentId = (ids: Ids, cluster: string): string => ids.child(cluster, 'agent', 'operator');

/**
 * What changes together with a cluster: the fleet's numbers (the operator gate's N, SPEC §5) and the presence row, which a heartbeat
 * and a dispatch can check without reading the cluster (DESIGN A1, A8).
 */
export function clusterSideWrites(before: K8sCluster | null, after: K8sCluster, ids: Ids): Action[] {
  const clusters = one(counted(after)) - one(counted(before));
  const pausedDelta = one(paused(after)) - one(paused(before));
  const pauseChanged = pausedUntil(before) !== pausedUntil(after);
  const archivedChanged = before !== null && counted(before) !== counted(after);
  const fleet: Action[] =
    clusters === 0 && pausedDelta === 0 ? [] : [{ kind: 'update', key: keys.fleet(), update: { add: { clusters, paused: pausedDelta } } }];
  if (before !== null && !pauseChanged && !archivedChanged) return fleet;
  const agent = operatorAgentId(ids, after.id);
  const presence: Action = {
    kind: 'update',
    key: keys.presence(agent),
    update: {
      set: { [PRESENCE.pausedUntil]: pausedUntil(after), [PRESENCE.gone]: counted(after) ? null : true },
      default: {
        entity: 'agent',
        [PRESENCE.kind]: 'operator',
        [PRESENCE.organization]: after.organization,
        [PRESENCE.workspace]: after.workspace,
        [PRESENCE.cluster]: after.id,
        [PRESENCE.inbox]: {},
      },
    },
  };
  return [...fleet, presence];
}
