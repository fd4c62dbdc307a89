import type { VirtualFleet } from './agents/virtual-fleet.ts';
import { type ApiClient, ApiRefusal } from './api-client.ts';
import { type FleetSource, importDone, importRefused, placesOnly } from './fleet-source.ts';
import { importFleet } from './import-fleet.ts';

interface Stage {
  readonly api: ApiClient;
  /** Where word of an unfinished beginning is left to the next start; null = nowhere. */
  readonly folder: string | null;
  readonly signal: AbortSignal;
  say(line: string): void;
}

/** Answers that mean the fleet, and not the moment, is wrong. */
const REFUSED: ReadonlySet<number> = new Set([400, 409, 413]);

/**
 * Imports a fleet and starts its agents: the places first, then the agents, and only then what is rolled out, so that nothing waits for agents
 * that are just about to come. `start` null = no agents of ours. Word of it was left to the next start before (`beginImport`),
 * and is taken back when it is done.
 */
export async function begin(
  stage: Stage,
  source: FleetSource | null,
  start: (() => Promise<VirtualFleet>) | null,
): Promise<VirtualFleet | null> {
  const { folder, signal } = stage;
  if (source === null) return start === null || signal.aborted ? null : start();
  if (!(await imported(stage, start === null ? source : placesOnly(source)))) return null;
  const agents = start === null || signal.aborted ? null : await start();
  try {
    if (agents !== null) await rollOut(stage, source, agents);
  } catch (error) {
    await agents?.stop();
    throw error;
  }
  if (folder !== null && !signal.aborted) importDone(folder);
  return agents;
}

async function rollOut(stage: Stage, source: FleetSource, agents: VirtualFleet): Promise<void> {
  const stopped = new Promise<void>((resolve) => stage.signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([agents.connected, stopped]);
  if (stage.signal.aborted) return;
  stage.say(`${agents.agents} agents are connected.`);
  await imported({ ...stage, say: () => undefined }, source);
}

/** False when it was stopped before the end. */
async function imported({ api, folder, say, signal }: Stage, source: FleetSource): Promise<boolean> {
  try {
    return await importFleet(api, source, say, () => signal.aborted);
  } catch (error) {
    if (folder !== null && error instanceof ApiRefusal && REFUSED.has(error.status)) importRefused(folder);
    throw error;
  }
}
