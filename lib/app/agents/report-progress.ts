import type { ActionRun } from '../../domain/shared/rollout.ts';
import { DAY, type Instant, SECOND } from '../../domain/shared/time.ts';
import type { RunLog } from '../engine/ports.ts';
import type { RunCall, Streams } from './calls.ts';
import type { AgentKeys } from './identify.ts';
import { keptLog } from './log-tail.ts';
import { runForCaller } from './run-access.ts';
import type { AgentServices } from './services.ts';

/** Log tails of one run are written at most this often. */
const WRITE_EVERY = 10 * SECOND;
const MOST_REMEMBERED = 10_000;

/** When this process last wrote a run's log. Another process may write as well; that costs a write, nothing else. */
export type LastWrites = Map<string, Instant>;

/** Keeps the log tail of a running action; more frequent messages are accepted and dropped (SPEC §7). */
export async function reportProgress(
  services: AgentServices,
  keys: AgentKeys,
  writes: LastWrites,
  call: RunCall & Streams,
): Promise<ActionRun> {
  const { run, log } = await runForCaller(services, keys, call, isPartial(call));
  const now = services.clock.now();
  if (run.status !== 'running' || run.phase !== 'executing' || now - (writes.get(run.id) ?? Number.NEGATIVE_INFINITY) < WRITE_EVERY)
    return run;
  if (writes.size >= MOST_REMEMBERED) writes.clear();
  writes.set(run.id, now);
  await saveLog(services, run, call, log);
  return run;
}

/** A stream that is left out stays as it was, so that has to be known. */
export const isPartial = ({ stdout, stderr }: Streams): boolean => (stdout === null) !== (stderr === null);

export async function saveLog(services: AgentServices, run: ActionRun, streams: Streams, before: RunLog | null): Promise<void> {
  if (streams.stdout === null && streams.stderr === null) return;
  const [settings, secrets] = await Promise.all([services.recentSettings(), services.secretsOf(run)]);
  const now = services.clock.now();
  await services.runs.saveLog(run.id, keptLog(before, streams, secrets, now), now + settings.RETENTION_DAYS * DAY);
}
