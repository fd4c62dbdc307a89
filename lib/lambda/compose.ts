import { createHash } from 'node:crypto';
import type { Sender } from '../adapters/dynamodb/client.ts';
import { Table } from '../adapters/dynamodb/client.ts';
import { DynamoEngineStore } from '../adapters/dynamodb/engine-store.ts';
import { DynamoObjectStore } from '../adapters/dynamodb/object-store.ts';
import { DynamoPresenceStore } from '../adapters/dynamodb/presence-store.ts';
import { jitteredRetry } from '../adapters/dynamodb/retry.ts';
import { DynamoSettingsStore } from '../adapters/dynamodb/settings-store.ts';
import { SystemIds } from '../adapters/system/ids.ts';
import { systemKeyCrypto } from '../adapters/system/key-crypto.ts';
import { AppError } from '../app/errors.ts';
import type { AgentServices } from '../app/agents/services.ts';
import { afterChange } from '../app/engine/after-change.ts';
import { demandWritten } from '../app/engine/demands.ts';
import { endAttempt } from '../app/engine/end-attempt.ts';
import type { Renderer } from '../app/engine/render.ts';
import type { EngineServices } from '../app/engine/services.ts';
import { unparkCluster } from '../app/engine/unpark.ts';
import { keyTokens } from '../app/keys/tokens.ts';
import type { Clock, Logger, SettingsStore, WorkflowStarter } from '../app/ports.ts';
import type { SystemSettings } from '../domain/shared/rollout.ts';
import { SECOND } from '../domain/shared/time.ts';

export interface Foundations {
  /** The document client, or the fault wrapper around it. */
  readonly sender: Sender;
  readonly table: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly renderer: Renderer;
  /** The real Step Functions client, or the embedded engine; asked for late, since the engine calls handlers made of these services. */
  readonly workflows: WorkflowStarter;
  /** How long work asked for several times is gathered; 0 = not at all, as on Lambda and under a clock moved by hand. */
  readonly gatherMs: number;
}

/** The one place where stores, engine and agents' side are put together: on AWS, locally and in tests. */
export function compose(f: Foundations) {
  const ids = new SystemIds(f.clock);
  const table = new Table(f.sender, f.table, jitteredRetry(f.random));
  const objects = new DynamoObjectStore(table, f.clock, ids);
  const settings = new DynamoSettingsStore(table, (also) => objects.alsoActions(also));
  const store = new DynamoEngineStore(table);
  const presence = new DynamoPresenceStore(table);
  const { clock, log, random, renderer, workflows } = f;
  const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const engine: EngineServices = { clock, ids, objects, settings, engine: store, presence, workflows, renderer, soon: gathered(f), log, random, digest };
  const agents: AgentServices = {
    clock,
    ids,
    objects,
    presence,
    runs: store,
    tokens: keyTokens(systemKeyCrypto),
    engine: {
      endAttempt: (end) => endAttempt(engine, end),
      unparkCluster: (cluster, codes) => unparkCluster(engine, cluster, codes),
      demandWritten: (demand) => demandWritten(engine, demand),
    },
    recentSettings: recent(settings, clock),
    // No credentials are given out yet, so there is nothing to mask.
    secretsOf: async () => [],
    log,
  };
  const changed = async (change: Parameters<typeof afterChange>[1]): Promise<void> => {
    try {
      await afterChange(engine, change);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.warn('change_not_followed', { ...change, error: error.message });
    }
  };
  return { table, ids, objects, engine, agents, changed };
}

/** What is asked for again before it was done is done once. A fault is logged: whoever asked has long gone on. */
function gathered({ gatherMs, log }: Foundations): EngineServices['soon'] {
  const waiting = new Set<string>();
  return async (name, work) => {
    if (gatherMs === 0) return work();
    if (waiting.has(name)) return;
    waiting.add(name);
    setTimeout(() => {
      waiting.delete(name);
      work().catch((error: unknown) => log.warn('late_work_failed', { name, error: String(error) }));
    }, gatherMs).unref();
  };
}

/** Settings at most a few seconds old: for report intervals, never for a decision. */
function recent(settings: SettingsStore, clock: Clock): () => Promise<SystemSettings> {
  let read: { at: number; value: Promise<SystemSettings> } | null = null;
  return () => {
    const now = clock.now();
    if (read === null || now - read.at >= 5 * SECOND || now < read.at) read = { at: now, value: settings.read() };
    return read.value;
  };
}
