import type { RunStep } from '../../domain/action-run/verification.ts';
import type { ActionRun } from '../../domain/shared/rollout.ts';
import type { Presence } from './presence.ts';
import { changeRun, endRun } from './run-access.ts';
import type { AgentServices } from './services.ts';

/**
 * Carries out what the domain decided about an open attempt. null = somebody else changed the run meanwhile: decide again.
 * `installed_version` is what was reported, if anything was.
 */
export async function carryOut(
  services: AgentServices,
  run: ActionRun,
  step: RunStep,
  agent: Presence | null,
  more: { readonly exit_code?: number | null; readonly installed_version?: string | null } = {},
): Promise<ActionRun | null> {
  const exit_code = more.exit_code ?? run.exit_code;
  const installed = more.installed_version === undefined ? {} : { installed_version: more.installed_version };
  switch (step.kind) {
    case 'stay':
      return run;
    case 'completed':
      return endRun(services, run, { kind: 'success' }, installed);
    case 'failed':
      return endRun(services, run, { kind: 'failed', reason: step.reason, exit_code }, installed);
    case 'verifying':
    case 'soaking':
      return hold(services, run, { phase: step.kind, deadline: step.until, exit_code }, agent);
  }
}

/** The work is done, its effect is not proven yet: the run stays open, but is not handed out any more. */
async function hold(services: AgentServices, run: ActionRun, patch: Partial<ActionRun>, agent: Presence | null): Promise<ActionRun | null> {
  const started_at = run.started_at ?? services.clock.now();
  const held = await changeRun(services, run, { ...patch, status: 'running', started_at });
  const entry = agent?.inbox[run.id];
  if (held !== null && entry !== undefined && !entry.finished)
    await services.presence.updateInbox(run.agent, run.id, { ...entry, finished: true });
  return held;
}
