import { SECOND } from '../../domain/shared/time.ts';
import { unavailable } from '../errors.ts';
import { changedApps, packApps } from './apps.ts';
import { appsOf, type HeartbeatAnswer, type Report } from './calls.ts';
import { closeOnReport } from './downtimes.ts';
import type { AgentKeys, Scope } from './identify.ts';
import { type Beat, INBOX_LIMIT, type Presence } from './presence.ts';
import { recordApps } from './record-apps.ts';
import { type Identity, identityOf, register } from './register.ts';
import type { AgentServices } from './services.ts';
import { verifyOthers, verifyReported } from './verify-runs.ts';

/** While something is open, an agent reports at least this often. */
const BUSY_SECONDS = 5;

/**
 * A heartbeat: registers, reports and fetches work in one call (SPEC §6). When nothing has changed it is exactly one UpdateItem (DESIGN
 * A1); the write's condition says so, and only when it fails is there more to do.
 */
export async function recordHeartbeat(
  services: AgentServices,
  keys: AgentKeys,
  input: { readonly token: string; readonly report: Report },
): Promise<HeartbeatAnswer> {
  services.metrics.count('Heartbeats');
  const { token, report } = input;
  const scope = await keys.known(token);
  const who = identityOf(services, scope, report);
  const settings = await services.recentSettings();
  const apps = appsOf(report);
  const beat: Beat = {
    agent: who.agent,
    key_hash: scope.key_hash,
    cluster_uid: who.cluster_uid,
    now: services.clock.now(),
    version: report.version ?? null,
    health: report.status ?? null,
    apps: apps === null ? null : packApps(apps),
  };
  const alive_since = beat.now - settings.AGENT_WARNING_AFTER_SECONDS * SECOND;
  const quick = await services.presence.beat(beat, alive_since);
  const before = quick.ok ? quick.before : await settle(services, keys, { token, report, who, beat, alive_since, row: quick.row });
  if (before === null) throw unavailable('The agent was just removed; report again.');
  keys.heard(scope.key_hash, who.cluster_uid, who.agent);
  const was_silent = before.last_seen !== null && before.last_seen < alive_since;
  const ended = await verifyReported(services, before, { apps, health: beat.health, was_silent, now: beat.now });
  await forgetStopped(services, before, report);
  return answer(scope, who, before, ended, settings.AGENT_REPORT_INTERVAL_SECONDS);
}

interface Unsettled {
  readonly token: string;
  readonly report: Report;
  readonly who: Identity;
  readonly beat: Beat;
  readonly alive_since: number;
  readonly row: Presence | null;
}

/**
 * The report brings news (DESIGN A3). What follows from it is written first and the agent's row last: a crash in between repeats the work at
 * the next report instead of losing it.
 */
async function settle(services: AgentServices, keys: AgentKeys, u: Unsettled): Promise<Presence | null> {
  const known = u.row !== null && u.row.key_hash === u.beat.key_hash && u.row.cluster_uid === u.beat.cluster_uid && !u.row.revoked;
  const { row, apps: known_apps } =
    known && u.row !== null ? { row: u.row, apps: null } : await register(services, keys, u.token, u.who, u.report, u.row);
  const apps = appsOf(u.report);
  const recovered = await recordApps(services, row, apps, u.beat.now, known_apps);
  if (mayBeOthersWork(row, apps)) await verifyOthers(services, row, { apps, health: u.beat.health, was_silent: false, now: u.beat.now });
  const silent = row.last_seen === null || row.last_seen < u.alive_since;
  const codes = [...(silent ? ['agent_silent', 'agent_missing'] : []), ...(silent || recovered ? ['cluster_critical'] : [])];
  if (row.downtime !== null) await closeOnReport(services, row.downtime, u.beat.now);
  const settled = await services.presence.settle(u.beat, row.downtime);
  // After the row says "alive": who looks again must find it so.
  const { k8s_cluster: id, organization, workspace } = row;
  if (codes.length > 0 && id !== null) await services.engine.unparkCluster({ id, organization, workspace }, codes);
  if (!settled.ok) throw unavailable('The agent was bound anew at this moment; report again.');
  return settled.before;
}

/** An app has changed that no run in this agent's own inbox speaks for. */
function mayBeOthersWork(row: Presence, apps: ReturnType<typeof appsOf>): boolean {
  if (apps === null) return false;
  const own = new Set(Object.values(row.inbox).map((run) => run.app));
  return changedApps(row.apps, apps).some((app) => !own.has(app.name));
}

/** A stop request is done when the run is neither open nor running any more. */
async function forgetStopped(services: AgentServices, row: Presence, report: Report): Promise<void> {
  const running = report.running_action_runs;
  if (running === undefined || row.cancels.length === 0) return;
  await services.presence.forgetStops(
    row.id,
    row.cancels.filter((run) => !running.includes(run) && row.inbox[run] === undefined),
  );
}

function answer(scope: Scope, who: Identity, row: Presence, ended: ReadonlySet<string>, interval: number): HeartbeatAnswer {
  const open = Object.entries(row.inbox).filter(([run]) => !ended.has(run));
  const waiting = open.filter(([, run]) => !run.finished).slice(0, INBOX_LIMIT);
  return {
    agent_id: row.id,
    reported_agent_id: who.reported_agent_id,
    workspace_id: scope.workspace,
    workspace_name: scope.workspace_name,
    organization_id: scope.organization,
    organization_name: scope.organization_name,
    k8s_cluster_id: who.k8s_cluster,
    action_runs: waiting.map(([id, { block, action, attempt, deadline }]) => ({ id, block, action, attempt, deadline })),
    cancel_action_runs: row.cancels,
    next_report_seconds: open.length > 0 || row.cancels.length > 0 ? Math.min(interval, BUSY_SECONDS) : interval,
  };
}
