import type { AppState, JsonObject } from '../../domain/shared/fleet.ts';
import type { ActionRun } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { AgentHealth, ReportedApp } from './presence.ts';

/** A report as it came, as far as something is decided on it (SPEC §6). */
export interface Report {
  readonly reported_agent_id?: string;
  readonly version?: string;
  readonly kind?: 'agent' | 'operator';
  readonly status?: AgentHealth;
  readonly cluster?: { readonly uid: string; readonly name?: string };
  readonly apps?: readonly { readonly name: string; readonly installed_version?: string | null; readonly state?: AppState | null }[];
  readonly running_action_runs?: readonly string[];
}

export interface HandedOut {
  readonly id: string;
  readonly block: string;
  readonly action: string;
  readonly attempt: number;
  readonly deadline: Instant;
}

export interface HeartbeatAnswer {
  readonly agent_id: string;
  readonly reported_agent_id: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly organization_id: string;
  readonly organization_name: string;
  readonly k8s_cluster_id: string | null;
  readonly action_runs: readonly HandedOut[];
  readonly cancel_action_runs: readonly string[];
  readonly next_report_seconds: number;
}

/** A call about one run: who calls, from which host. */
export interface RunCall {
  readonly token: string;
  readonly cluster_uid: string | null;
  readonly agent_id: string | null;
  readonly run: string;
}

export interface Streams {
  readonly stdout: string | null;
  readonly stderr: string | null;
}

export interface RunResult {
  /** null only when `cancelled`. */
  readonly exit_code: number | null;
  readonly cancelled: boolean;
  readonly finished_at: Instant | null;
}

export interface ClaimedRun {
  readonly run: ActionRun;
  readonly config: JsonObject | null;
}

const plain = (text: string): string => text.replaceAll(/[\t\n\r]/g, ' ');

export const appsOf = (report: Report): readonly ReportedApp[] | null =>
  report.apps === undefined
    ? null
    : report.apps.map((app) => ({ name: plain(app.name), installed_version: app.installed_version ?? null, state: app.state ?? null }));
