import type { ActionRun } from '../../domain/shared/rollout.ts';
import type { RunLog } from '../engine/ports.ts';
import { AppError, conflict, notFound } from '../errors.ts';
import type { RunCall } from './calls.ts';
import type { AgentKeys } from './identify.ts';
import { NO_HOST, type Presence } from './presence.ts';
import type { AgentServices, Outcome } from './services.ts';

export interface CalledRun {
  readonly run: ActionRun;
  readonly agent: Presence;
  /** Only where it was asked for. */
  readonly log: RunLog | null;
}

/**
 * Who may speak about a run: the host that its agent is bound to, with a key for that cluster or workspace, read fresh each time
 * (DESIGN A2). Another cluster's run does not exist for a caller; another host of the same agent is refused (SPEC §6).
 */
export async function runForCaller(services: AgentServices, keys: AgentKeys, call: RunCall, log = false): Promise<CalledRun> {
  const host = call.cluster_uid ?? NO_HOST;
  const { key_id, hint } = keys.callerOf(call.token, host);
  const rows = await services.calls.rows({ key: key_id, run: call.run, agent: hint, log });
  const scope = await keys.accepted(call.token, rows.key);
  const { run } = rows;
  if (run === null || run.workspace !== scope.workspace) throw notFound(`Action run ${call.run}`);
  const agent = rows.agent?.id === run.agent ? rows.agent : await services.presence.get(run.agent, true);
  if (agent === null || (scope.k8s_cluster !== null && agent.k8s_cluster !== scope.k8s_cluster)) throw notFound(`Action run ${call.run}`);
  if (agent.cluster_uid === host) return { run, agent, log: rows.log };
  if (call.cluster_uid === null) {
    const detail = 'send the UID of the kube-system namespace of the cluster that the agent runs on';
    throw new AppError('invalid', [{ code: 'required', detail, attr: 'X-Cluster-UID' }]);
  }
  throw conflict(
    `Action run ${run.id} belongs to the agent on the cluster with UID ${agent.cluster_uid ?? '(none yet)'}; this call came from ${host}. ` +
      `If the cluster was rebuilt, an administrator binds it anew with POST /api/v1/agents/${agent.id}/rebind/.`,
  );
}

/** Somebody else changed the run between read and write: decide again on what is there now. */
export async function onFreshRun<T>(services: AgentServices, run: ActionRun, decide: (run: ActionRun) => Promise<T | null>): Promise<T> {
  let current = run;
  for (let attempt = 1; attempt <= 5; attempt++) {
    const done = await decide(current);
    if (done !== null) return done;
    const fresh = await services.runs.run(run.id);
    if (fresh === null) throw notFound(`Action run ${run.id}`);
    current = fresh;
  }
  throw new AppError(
    'unavailable',
    [{ code: 'unavailable', detail: 'The action run keeps changing; try again in a moment.', attr: null }],
    { retryAfterSeconds: 1 },
  );
}

/** Ends the attempt as decided on this run; null when the run went on meanwhile without having ended: decide again. */
export async function endRun(
  services: AgentServices,
  run: ActionRun,
  outcome: Outcome,
  more: { readonly installed_version?: string | null } = {},
): Promise<ActionRun | null> {
  const end = await services.engine.endAttempt({ run_id: run.id, attempt: run.attempt, run, outcome, ...more });
  return end.changed || end.run.phase === 'ended' ? end.run : null;
}

/** Conditional on the version read; null when somebody was faster. */
export async function changeRun(services: AgentServices, before: ActionRun, patch: Partial<ActionRun>): Promise<ActionRun | null> {
  const after = { ...before, ...patch, updated_at: services.clock.now() };
  const commit = await services.runs.commit({ runs: [{ before, after }] });
  return commit.ok ? { ...after, version: before.version + 1 } : null;
}
