import { runTransition } from '../../domain/action-run/transitions.ts';
import type { ActionRun } from '../../domain/shared/rollout.ts';
import type { ClaimedRun, RunCall } from './calls.ts';
import type { AgentKeys } from './identify.ts';
import { changeRun, endRun, onFreshRun, runForCaller } from './run-access.ts';
import type { AgentServices } from './services.ts';

/**
 * pending → running, idempotent for the same agent (SPEC §7). A claim after `claim_by` starts nothing: its window may have closed. The
 * config is in the answer only while there is something to execute.
 */
export async function claimRun(services: AgentServices, keys: AgentKeys, call: RunCall): Promise<ClaimedRun> {
  const called = await runForCaller(services, keys, call);
  const run = await onFreshRun(services, called.run, (current) => claim(services, current));
  const executing = run.status === 'running' && run.phase === 'executing';
  // A run without a template has no config of its own to read.
  const item = executing && run.config_hash !== null ? run.item : null;
  return { run, config: item === null ? null : await services.runs.config(item) };
}

async function claim(services: AgentServices, run: ActionRun): Promise<ActionRun | null> {
  const next = runTransition(run.status, 'claim');
  if (!next.ok) return run;
  const now = services.clock.now();
  if (run.cancel_requested) return endRun(services, run, { kind: 'cancelled' });
  if (now >= run.claim_by) return endRun(services, run, { kind: 'withdrawn' });
  return changeRun(services, run, { status: next.to, phase: 'executing', started_at: now });
}
