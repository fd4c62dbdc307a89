import type { VirtualFleet } from './agents/virtual-fleet.ts';
import { type ApiClient, ApiRefusal } from './api-client.ts';
import { FleetProblem, type FleetSource, importDone, importRefused, quietPart, rolloutsOnly } from './fleet-source.ts';
import { importFleet } from './import-fleet.ts';

interface Stage {
  readonly api: ApiClient;
  /** Where word of an unfinished beginning is left to the next start; null = nowhere. */
  readonly folder: string | null;
  readonly signal: AbortSignal;
  say(line: string): void;
}

interface Beginning {
  /** null = there is nothing to import. */
  readonly source: FleetSource | null;
  /** Nothing has been imported or set before. */
  readonly fresh: boolean;
  /** null = no agents of ours. */
  readonly start: (() => Promise<VirtualFleet>) | null;
}

/** Answers that mean the fleet, and not the moment, is wrong. */
const REFUSED: ReadonlySet<number> = new Set([400, 409, 413]);
const isRefusal = (error: unknown): error is ApiRefusal => error instanceof ApiRefusal && REFUSED.has(error.status);

/**
 * Imports a fleet and starts the agents. In a fresh installation everything comes first but what rolls something out, then the agents, and then
 * the rest, so that nothing waits for agents that are just about to come; where there is something already, the file is imported as it is.
 * Word of it was left to the next start before (`beginImport`), and is taken back when it is done.
 */
export async function begin(stage: Stage, { source, fresh, start }: Beginning): Promise<VirtualFleet | null> {
  const { signal } = stage;
  const quietly = source !== null && fresh && start !== null && (await isImportedQuietly(stage, source));
  if (source !== null && !quietly && !(await imported(stage, source))) return null;
  const agents = start === null || signal.aborted ? null : await start();
  try {
    if (quietly && agents !== null) await rollOut(stage, source, agents);
  } catch (error) {
    await agents?.stop();
    throw error;
  }
  if (source !== null && stage.folder !== null && !signal.aborted) importDone(stage.folder, source);
  return agents;
}

/** False where the file is refused without what rolls out: as a whole it may be right, and if not, is refused with the lines as they stand in it. */
async function isImportedQuietly(stage: Stage, source: FleetSource): Promise<boolean> {
  try {
    await importFleet(stage.api, quietPart(source), stage.say, () => stage.signal.aborted);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

async function rollOut(stage: Stage, source: FleetSource, agents: VirtualFleet): Promise<void> {
  const stopped = new Promise<void>((resolve) => stage.signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([agents.connected, stopped]);
  if (stage.signal.aborted) return;
  stage.say(`${agents.agents} agents are connected.`);
  await imported({ ...stage, say: () => undefined }, rolloutsOnly(source));
}

/** False when it was stopped before the end. */
async function imported({ api, folder, say, signal }: Stage, source: FleetSource): Promise<boolean> {
  try {
    return await importFleet(api, source, say, () => signal.aborted);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (folder !== null) importRefused(folder);
    const lines = error.message.split('\n').map((line) => `${source.file}: ${line}`);
    throw new FleetProblem([...lines, 'Nothing was imported; correct the file and start again.'].join('\n'));
  }
}
