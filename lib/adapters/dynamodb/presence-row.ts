import { type AgentHealth, decodeInboxRun, type Presence } from '../../app/agents/presence.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { type Condition, missing, or } from './expression.ts';
import { keys } from './keys.ts';
import type { Row } from './row.ts';

/**
 * Attribute names of a presence row. Short, because the tick reads all of these rows each minute and a heartbeat writes one: the row of an
 * operator takes about 480 bytes. They stand in no index, whose upkeep would be part of every heartbeat: agents are
 * listed by their places, rows that never change.
 */
export const PRESENCE = {
  kind: 'kind',
  organization: 'og',
  workspace: 'ws',
  /** Left out for an agent that is bound to no cluster. */
  cluster: 'cl',
  reportedAgentId: 'ri',
  keyId: 'ki',
  keyHash: 'kh',
  host: 'uid',
  revoked: 'revoked',
  pausedUntil: 'paused_until',
  /** The cluster is archived or inactive. */
  gone: 'gone',
  lastSeen: 'last_seen',
  version: 'v',
  health: 'he',
  apps: 'ap',
  /** Map run id → `encodeInboxRun`; there from the registration on. */
  inbox: 'inbox',
  cancels: 'cancels',
  downtime: 'dt',
  registeredAt: 'ra',
} as const;

const A = PRESENCE;
/** Free of a pause at `now`: part of the dispatch's condition. */
export const notPaused = (now: Instant): Condition => or(missing(A.pausedUntil), { op: '<=', attr: A.pausedUntil, value: now });

/** Stands for the cluster of an agent that is bound to none. */
export const NO_CLUSTER = '-';

/** Where an agent is listed: under its organization, by workspace and cluster. */
export const agentPlaceRow = (
  where: { readonly organization: string; readonly workspace: string; readonly k8s_cluster: string | null },
  agent: string,
): Row => ({
  ...keys.agentPlace(where.organization, [where.workspace, where.k8s_cluster ?? NO_CLUSTER], agent),
  entity: 'agent_place',
});

const textOf = (row: Row, attr: string): string | null => {
  const value = row[attr];
  return typeof value === 'string' ? value : null;
};
const numberOf = (row: Row, attr: string): number | null => {
  const value = row[attr];
  return typeof value === 'number' ? value : null;
};

export function presenceOf(row: Row): Presence {
  const inbox = (row[A.inbox] ?? {}) as Record<string, string>;
  const cancels = row[A.cancels];
  return {
    id: row.sk,
    kind: textOf(row, A.kind) === 'agent' ? 'agent' : 'operator',
    organization: textOf(row, A.organization) ?? '',
    workspace: textOf(row, A.workspace) ?? '',
    k8s_cluster: textOf(row, A.cluster),
    reported_agent_id: textOf(row, A.reportedAgentId) ?? '',
    key_id: textOf(row, A.keyId),
    key_hash: textOf(row, A.keyHash),
    cluster_uid: textOf(row, A.host),
    revoked: row[A.revoked] === true,
    gone: row[A.gone] === true,
    paused_until: numberOf(row, A.pausedUntil),
    last_seen: numberOf(row, A.lastSeen),
    version: textOf(row, A.version),
    health: textOf(row, A.health) as AgentHealth | null,
    apps: textOf(row, A.apps),
    inbox: Object.fromEntries(Object.entries(inbox).map(([run, text]) => [run, decodeInboxRun(text)])),
    cancels: cancels instanceof Set ? [...cancels].map(String).sort() : [],
    downtime: textOf(row, A.downtime),
    registered_at: numberOf(row, A.registeredAt),
  };
}
