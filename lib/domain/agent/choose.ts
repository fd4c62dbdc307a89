import type { Instant } from '../shared/time.ts';

export interface ChoosableAgent {
  /** Presence key. */
  readonly key: string;
  readonly kind: 'operator' | 'agent';
  readonly workspace: string;
  /** The cluster it is bound to; null for one that serves its whole workspace. */
  readonly k8s_cluster: string | null;
  /** null = never registered: it cannot get anything. */
  readonly last_seen: Instant | null;
}

export type RegisteredAgent = ChoosableAgent & { readonly last_seen: Instant };

export interface RunTarget {
  readonly workspace: string;
  /** null for a workspace-level block. */
  readonly k8s_cluster: string | null;
  /** An agent key exists for the cluster (or for its workspace). */
  readonly has_token: boolean;
}

export type Chosen = { readonly agent: RegisteredAgent } | { readonly missing: 'no_agent_token' | 'operator_config_missing' };

/**
 * SPEC §7: the cluster's operator agent; else an agent of kind `agent` bound to the cluster; else one of its workspace; among
 * equals the one with the latest report, then by key. So the first install of an operator has someone to do it.
 */
export function chooseAgent(target: RunTarget, agents: readonly ChoosableAgent[]): Chosen {
  const ours = agents.filter(isRegistered).filter((a) => a.workspace === target.workspace);
  const onCluster = ours.filter((a) => target.k8s_cluster !== null && a.k8s_cluster === target.k8s_cluster);
  const agent =
    latest(onCluster.filter((a) => a.kind === 'operator')) ??
    latest(onCluster.filter((a) => a.kind === 'agent')) ??
    latest(ours.filter((a) => a.kind === 'agent' && a.k8s_cluster === null));
  if (agent !== null) return { agent };
  return { missing: target.has_token ? 'operator_config_missing' : 'no_agent_token' };
}

function isRegistered(agent: ChoosableAgent): agent is RegisteredAgent {
  return agent.last_seen !== null;
}

function latest(agents: readonly RegisteredAgent[]): RegisteredAgent | null {
  let best: RegisteredAgent | null = null;
  for (const a of agents) {
    if (best === null || a.last_seen > best.last_seen || (a.last_seen === best.last_seen && a.key < best.key)) best = a;
  }
  return best;
}
