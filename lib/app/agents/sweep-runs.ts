import { verificationStep } from '../../domain/action-run/verification.ts';
import { agentState, worst } from '../../domain/agent/liveness.ts';
import type { AppState, K8sApp } from '../../domain/shared/fleet.ts';
import type { ActionRun, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { healthState } from './health.ts';
import type { Presence } from './presence.ts';
import { appOfBlock } from './record-apps.ts';
import { onFreshRun } from './run-access.ts';
import { carryOut } from './run-steps.ts';
import type { AgentServices, Outcome } from './services.ts';
import { deadlinesSuspended, type WatchState } from './watch-state.ts';

const PAGE = 100;
const AT_ONCE = 8;

/**
 * Open runs whose time has come (SPEC §7): past the deadline → timed_out; not claimed in time → withdrawn; verified for too long →
 * version_unchanged; soaked → completed. Goes on until nothing is due or `more` says that the time is over.
 */
export async function sweepRuns(
  services: AgentServices,
  watch: WatchState,
  settings: SystemSettings,
  more: () => boolean,
): Promise<number> {
  let swept = 0;
  const seen = new Set<string>();
  while (more() && !deadlinesSuspended(watch, settings, services.clock.now())) {
    const due = (await services.runs.dueRuns(services.clock.now(), PAGE)).filter((id) => !seen.has(id));
    if (due.length === 0) break;
    for (const id of due) seen.add(id);
    const left = [...due];
    const worker = async () => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) await sweepOne(services, settings, id);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    swept += due.length;
  }
  return swept;
}

/** One run that cannot be ended keeps no other from its end. */
async function sweepOne(services: AgentServices, settings: SystemSettings, id: string): Promise<void> {
  try {
    const run = await services.runs.run(id);
    if (run !== null) await onFreshRun(services, run, (current) => sweepRun(services, settings, current));
  } catch (error) {
    services.log.error('run_not_swept', { run: id, error: String(error) });
  }
}

async function sweepRun(services: AgentServices, settings: SystemSettings, run: ActionRun): Promise<ActionRun | null> {
  const now = services.clock.now();
  if (run.phase === 'verifying' || run.phase === 'soaking') return now < run.deadline ? run : verifyAtEnd(services, settings, run, now);
  const outcome = overdue(run, now);
  if (outcome === null) return run;
  const ended = await services.engine.endAttempt({ run_id: run.id, attempt: run.attempt, outcome, run });
  // Whoever may still be working on it is asked to stop.
  if (ended.changed && run.status === 'running') await services.presence.requestStop(run.agent, run.id);
  if (ended.changed)
    services.log.info('run_swept', { run: run.id, item: run.item, outcome: outcome.kind, agent: run.agent, attempt: run.attempt });
  return ended.changed || ended.run.phase === 'ended' ? ended.run : null;
}

function overdue(run: ActionRun, now: Instant): Outcome | null {
  if (run.phase === 'ended') return null;
  if (now >= run.deadline) return { kind: 'failed', reason: 'timed_out', exit_code: null };
  if (run.status !== 'pending' || now < run.claim_by) return null;
  return run.cancel_requested ? { kind: 'cancelled' } : { kind: 'withdrawn' };
}

/** The end of verifying or of soaking: what is known of the target decides, whichever agent reported it. */
async function verifyAtEnd(services: AgentServices, settings: SystemSettings, run: ActionRun, now: Instant): Promise<ActionRun | null> {
  const [app, agents] = await Promise.all([appOf(services, run), agentsOf(services, run)]);
  const speaker =
    agents.find((agent) => agent.kind === 'operator' && agent.last_seen !== null) ?? agents.find((agent) => agent.id === run.agent) ?? null;
  const reported = app === null || app.last_reconciled === null ? null : { version: app.installed_version };
  const step = verificationStep(run, { report: reported, agent_state: stateOf(speaker, app, settings, now) }, now);
  const holder = agents.find((agent) => agent.id === run.agent) ?? null;
  return carryOut(services, run, step, holder, reported === null ? {} : { installed_version: reported.version });
}

async function appOf(services: AgentServices, run: ActionRun): Promise<K8sApp | null> {
  const block = await services.objects.get('block', run.block);
  if (block === null || run.k8s_cluster === null) return null;
  return services.objects.get('k8s_app', derivedId.app(services.ids, run.k8s_cluster, appOfBlock(block)), true);
}

function agentsOf(services: AgentServices, run: ActionRun): Promise<Presence[]> {
  const own = run.k8s_cluster === null ? [] : [derivedId.operatorAgent(services.ids, run.k8s_cluster)];
  return services.presence.getMany([...new Set([run.agent, ...own])]);
}

function stateOf(agent: Presence | null, app: K8sApp | null, settings: SystemSettings, now: Instant): AppState | null {
  if (agent === null) return null;
  const alive = agentState(agent.last_seen, now, settings.AGENT_WARNING_AFTER_SECONDS, settings.AGENT_CRITICAL_AFTER_SECONDS);
  return worst(alive, healthState(agent.health), app?.state ?? null);
}
