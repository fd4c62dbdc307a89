import type { AgentEndpoint, AgentReport } from '../contracts/api/agent.ts';
import type { JsonObject } from '../domain/shared/fleet.ts';
import type { ActionRun } from '../domain/shared/rollout.ts';
import type { Instant } from '../domain/shared/time.ts';

/**
 * What the agents' routes need from the program (SPEC §6, §7). The bearer token is handed on as it came: each use case proves it in
 * its own way (the heartbeat inside its one write, the others with a read of the key row) and throws `unauthenticated` for a
 * key that is wrong or revoked, `forbidden` for an administrator's key, `conflict` for another host.
 */
export interface AgentApi {
  recordHeartbeat(input: { readonly token: string; readonly report: AgentReport }): Promise<HeartbeatAnswer>;
  /** Idempotent for the same agent; a run that is not open any more is answered as it is, without config. */
  claimRun(input: RunCall): Promise<ClaimedRun>;
  reportProgress(input: RunCall & RunLogs): Promise<ActionRun>;
  finishRun(input: RunCall & RunLogs & RunResult): Promise<ActionRun>;
  listAgentEndpoints(input: AgentCall): Promise<readonly AgentEndpoint[]>;
}

export interface AgentCall {
  readonly token: string;
  /** `X-Cluster-UID`. */
  readonly cluster_uid: string | null;
  /** `X-Agent-ID`: the id that the agent reports; which agent of the key's scope is calling. */
  readonly agent_id: string | null;
}

export interface RunCall extends AgentCall {
  readonly run: string;
}

export interface RunLogs {
  readonly stdout: string | null;
  readonly stderr: string | null;
}

export interface RunResult {
  /** null only when `cancelled`. */
  readonly exit_code: number | null;
  /** The agent stopped it because it was asked to. */
  readonly cancelled: boolean;
  readonly finished_at: Instant | null;
}

export interface HeartbeatAnswer {
  readonly agent_id: string;
  readonly reported_agent_id: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly organization_id: string;
  readonly organization_name: string;
  readonly k8s_cluster_id: string | null;
  readonly action_runs: readonly InboxEntry[];
  readonly cancel_action_runs: readonly string[];
  readonly next_report_seconds: number;
}

export interface InboxEntry {
  readonly id: string;
  readonly block: string;
  readonly action: string;
  readonly attempt: number;
  readonly deadline: Instant;
}

export interface ClaimedRun {
  readonly run: ActionRun;
  /** Rendered with its secrets; null unless the run is open and the caller holds it. */
  readonly config: JsonObject | null;
}
