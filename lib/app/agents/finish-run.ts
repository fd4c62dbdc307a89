import { afterExit } from '../../domain/action-run/verification.ts';
import type { ActionRun } from '../../domain/shared/rollout.ts';
import { conflict } from '../errors.ts';
import type { RunCall, RunResult, Streams } from './calls.ts';
import type { AgentKeys } from './identify.ts';
import type { Presence } from './presence.ts';
import { isPartial, saveLog } from './report-progress.ts';
import { endRun, onFreshRun, runForCaller } from './run-access.ts';
import { carryOut } from './run-steps.ts';
import type { AgentServices, Outcome } from './services.ts';

/**
 * The result of an attempt (SPEC §7). Only the holder of the claim finishes it. A late or doubled message changes nothing and gets the run
 * as it is.
 */
export async function finishRun(services: AgentServices, keys: AgentKeys, call: RunCall & Streams & RunResult): Promise<ActionRun> {
  const { run, agent, log } = await runForCaller(services, keys, call, isPartial(call));
  if (run.status === 'pending')
    throw conflict(`Action run ${run.id} was not claimed yet; claim it first with POST /api/v1/agent/action-runs/${run.id}/claim/.`);
  if (!executing(run)) {
    services.metrics.count('LateMessages');
    if (run.phase === 'ended') await services.engine.toldAgain(run);
    return run;
  }
  // The log first: whoever sees the end sees its log.
  await saveLog(services, run, call, log);
  return onFreshRun(services, run, (current) => (executing(current) ? finish(services, current, agent, call) : Promise.resolve(current)));
}

const executing = (run: ActionRun): boolean => run.status === 'running' && run.phase === 'executing';

async function finish(
  services: AgentServices,
  run: ActionRun,
  agent: Presence,
  { exit_code, cancelled }: RunResult,
): Promise<ActionRun | null> {
  if (!cancelled && exit_code !== null)
    return carryOut(services, run, afterExit(run, exit_code, services.clock.now()), agent, { exit_code });
  // An agent that stops something nobody asked it to stop has failed at it.
  const outcome: Outcome = run.cancel_requested ? { kind: 'cancelled' } : { kind: 'failed', reason: 'stopped_by_agent', exit_code };
  return endRun(services, run, outcome);
}
