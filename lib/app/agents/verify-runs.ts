import { type Observation, verificationStep } from '../../domain/action-run/verification.ts';
import { worst } from '../../domain/agent/liveness.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { compareVersions } from '../../domain/version/compare.ts';
import { reportedState } from './health.ts';
import type { AgentHealth, InboxRun, Presence, ReportedApp } from './presence.ts';
import { onFreshRun } from './run-access.ts';
import { carryOut } from './run-steps.ts';
import type { AgentServices } from './services.ts';

export interface Reported {
  readonly apps: readonly ReportedApp[] | null;
  readonly health: AgentHealth | null;
  /** The agent was silent before this report: for a soak that is not OK. */
  readonly was_silent: boolean;
  readonly now: Instant;
}

/**
 * Open runs of this agent whose result the report may show (SPEC §7). Costs nothing unless one stands in the inbox and its target is
 * reported, or its work is done. Answers the runs that are not to be handed out any more.
 */
export async function verifyReported(services: AgentServices, agent: Presence, reported: Reported): Promise<ReadonlySet<string>> {
  const done = new Set<string>();
  for (const [id, entry] of Object.entries(agent.inbox)) {
    const app = appOf(reported.apps, entry);
    if (entry.app === null || app === undefined || !(entry.finished || mayShow(entry, app.installed_version))) continue;
    if (await verifyRun(services, agent, id, app, reported)) done.add(id);
  }
  return done;
}

/** undefined = the report says nothing about it. An app that a full list leaves out is not installed. */
function appOf(apps: readonly ReportedApp[] | null, entry: InboxRun): ReportedApp | undefined {
  if (apps === null || entry.app === null) return undefined;
  return apps.find((app) => app.name === entry.app) ?? { name: entry.app, installed_version: null, state: null };
}

/** Only whether it is worth a look at the run; the domain decides. */
function mayShow(entry: InboxRun, version: string | null): boolean {
  if (version === null || entry.target === null) return version === null && entry.action === 'uninstall';
  return compareVersions(version, entry.target, false) === 'up_to_date';
}

async function verifyRun(services: AgentServices, agent: Presence, id: string, app: ReportedApp, reported: Reported): Promise<boolean> {
  const run = await services.runs.run(id);
  if (run === null) return true;
  const state = worst(reportedState(reported.health, app), reported.was_silent ? 'WARNING' : null);
  const seen: Observation = { report: { version: app.installed_version }, agent_state: state };
  const after = await onFreshRun(services, run, (current) =>
    carryOut(services, current, verificationStep(current, seen, reported.now), agent, { installed_version: app.installed_version }),
  );
  return after.phase !== 'queued' && after.phase !== 'executing';
}
