import type { ActionRun } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import type { ClaimedRun, HeartbeatAnswer, Report, RunCall, RunResult, Streams } from './calls.ts';
import { claimRun } from './claim-run.ts';
import { finishRun } from './finish-run.ts';
import { AgentKeys } from './identify.ts';
import { recordHeartbeat } from './record-heartbeat.ts';
import { reportProgress } from './report-progress.ts';
import type { AgentServices } from './services.ts';

/** What agents can ask for, with what one process remembers between calls. */
export function agentApi(services: AgentServices) {
  const keys = new AgentKeys(services);
  const writes = new Map<string, Instant>();
  return {
    recordHeartbeat: (input: { readonly token: string; readonly report: Report }): Promise<HeartbeatAnswer> =>
      recordHeartbeat(services, keys, input),
    claimRun: (call: RunCall): Promise<ClaimedRun> => claimRun(services, keys, call),
    reportProgress: (call: RunCall & Streams): Promise<ActionRun> => reportProgress(services, keys, writes, call),
    finishRun: (call: RunCall & Streams & RunResult): Promise<ActionRun> => finishRun(services, keys, call),
    /** Endpoints are assigned in a later version; an agent that asks gets none. */
    listAgentEndpoints: async (call: { readonly token: string }): Promise<readonly never[]> => {
      await keys.proven(call.token);
      return [];
    },
  };
}
