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
export async function verifyReported(
  services: AgentServices,
  agent: Presence,
  reported: Reported,
  cluster: string | null = agent.k8s_cluster,
): Promise<ReadonlySet<string>> {
  const done = new Set<string>();
  for (const [id, entry] of Object.entries(agent.inbox)) {
    const app = appOf(reported.apps, entry);
    if (entry.app === null || app === undefined || !(entry.finished || mayShow(entry, app.installed_version))) continue;
    if (await verifyRun(services, agent, id, app, reported, cluster)) done.add(id);
  }
  return done;
}

/**
 * A first install is done by another agent than the one that it brings (SPEC §7): what this report shows may be the result of a run that
 * another agent of the cluster, or of its workspace, holds.
 */
export async function verifyOthers(services: AgentServices, agent: Presence, reported: Reported): Promise<void> {
  const { organization, workspace, k8s_cluster } = agent;
  if (k8s_cluster === null || reported.apps === null) return;
  const places = [k8s_cluster, null].map((cluster) => services.presence.listIds({ organization, workspace, k8s_cluster: cluster }));
  const others = (await Promise.all(places)).flat().filter((id) => id !== agent.id);
  if (others.length === 0) return;
  for (const other of await services.presence.getMany(others)) await verifyReported(services, other, reported, k8s_cluster);
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

async function verifyRun(
  services: AgentServices,
  agent: Presence,
  id: string,
  app: ReportedApp,
  reported: Reported,
  cluster: string | null,
): Promise<boolean> {
  const run = await services.runs.run(id);
  if (run === null) return true;
  if (run.k8s_cluster !== cluster) return false;
  const state = worst(reportedState(reported.health, app), reported.was_silent ? 'WARNING' : null);
  const seen: Observation = { report: { version: app.installed_version }, agent_state: state };
  const after = await onFreshRun(services, run, (current) =>
    carryOut(services, current, verificationStep(current, seen, reported.now), agent, { installed_version: app.installed_version }),
  );
  return after.phase !== 'queued' && after.phase !== 'executing';
}
