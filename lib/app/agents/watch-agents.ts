import type { Gauges } from '../../contracts/telemetry/metrics.ts';
import { agentState, massSilence } from '../../domain/agent/liveness.ts';
import type { AppState } from '../../domain/shared/fleet.ts';
import type { SystemSettings } from '../../domain/shared/rollout.ts';
import { type Instant, MINUTE, SECOND } from '../../domain/shared/time.ts';
import { noticeOf } from '../engine/notices.ts';
import type { EngineServices } from '../engine/services.ts';
import type { Notice } from '../ports.ts';
import { openDowntimes } from './downtimes.ts';
import type { HeardAgent, Presence } from './presence.ts';
import { type Alert, alertLasts, type WatchState, type WatchStore } from './watch-state.ts';

/**
 * The tick's look at all agents (SPEC §6, DESIGN A4). Liveness is derived, so this only finds out whether the silence of many is our own fault, and
 * opens Downtimes. Repeating it repeats no effect. Answers how many agents are in which state.
 */
export async function watchAgents(services: EngineServices, watch: WatchStore, all: readonly Presence[]): Promise<Gauges> {
  const now = services.clock.now();
  const [before, settings] = await Promise.all([watch.read(), services.settings.read()]);
  const agents = heardOf(all);
  const alert = alertOf(before, agents, settings, now);
  const raised = alert !== null && alert.ended_at === null && (before.alert === null || before.alert.ended_at !== null);
  const gauges = gaugesOf(agents, alert, settings, now);
  if (!(await watch.write(before, { checked_at: now, alert }, raised ? [alertNotice(services, agents.length, now)] : []))) return gauges;
  if (raised) services.log.error('platform_alert', { reason: 'mass_silence', agents: agents.length });
  // The check that raises the alert opens nothing: the next one sees whether the silence lasts.
  else await openDowntimes(services, critical(agents, settings, now));
  return gauges;
}

function gaugesOf(agents: readonly HeardAgent[], alert: Alert | null, settings: SystemSettings, now: Instant): Gauges {
  const { AGENT_WARNING_AFTER_SECONDS: warning, AGENT_CRITICAL_AFTER_SECONDS: critical } = settings;
  const states = agents.map(({ last_seen }) => agentState(last_seen, now, warning, critical));
  const count = (wanted: AppState): number => states.filter((state) => state === wanted).length;
  return {
    AgentsOk: count('OK'),
    AgentsWarning: count('WARNING'),
    AgentsCritical: count('CRITICAL'),
    PlatformAlert: alert !== null && alert.ended_at === null ? 1 : 0,
  };
}

/** Never seen is not silent (SPEC §6); from an archived cluster nothing is expected. */
const heardOf = (all: readonly Presence[]): HeardAgent[] =>
  all.flatMap((row) => (row.last_seen === null || row.gone || row.revoked ? [] : [{ ...row, last_seen: row.last_seen }]));

function alertOf(before: WatchState, agents: readonly HeardAgent[], settings: SystemSettings, now: Instant): Alert | null {
  const silent_after_seconds = settings.AGENT_WARNING_AFTER_SECONDS;
  const last_seen = agents.map((agent) => agent.last_seen);
  if (before.alert !== null && before.alert.ended_at === null) {
    return alertLasts(before.alert, last_seen, silent_after_seconds, now) ? before.alert : { ...before.alert, ended_at: now };
  }
  const mass = massSilence({ last_seen, previous_check: before.checked_at ?? now - MINUTE, silent_after_seconds }, now);
  return mass.alert ? { since: now, ended_at: null } : before.alert;
}

function alertNotice(services: EngineServices, agents: number, now: Instant): Notice {
  const text = 'More than half of the agents fell silent at once. Look at the service itself first: its gateway, its network, its table.';
  const about = { subject: 'platform', organization: null, data: { reason: 'mass_silence', agents } };
  return noticeOf(services, 'platform_alert', about, text, now);
}

/** Silent for AGENT_CRITICAL_AFTER and without an open Downtime. A cluster's operator speaks for it, if it has one. */
function critical(agents: readonly HeardAgent[], settings: SystemSettings, now: Instant): HeardAgent[] {
  const operated = new Set(agents.filter((agent) => agent.kind === 'operator').map((agent) => agent.k8s_cluster));
  const limit = now - settings.AGENT_CRITICAL_AFTER_SECONDS * SECOND;
  return agents.filter(
    (agent) =>
      agent.last_seen <= limit &&
      agent.downtime === null &&
      agent.k8s_cluster !== null &&
      (agent.kind === 'operator' || !operated.has(agent.k8s_cluster)),
  );
}
