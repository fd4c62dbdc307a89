import { hash } from 'node:crypto';
import { DynamoBoardStore } from '../adapters/dynamodb/board-store.ts';
import { DynamoCallStore } from '../adapters/dynamodb/call-store.ts';
import type { Sender } from '../adapters/dynamodb/client.ts';
import { Table } from '../adapters/dynamodb/client.ts';
import { DynamoEngineStore } from '../adapters/dynamodb/engine-store.ts';
import { DynamoListStore } from '../adapters/dynamodb/list-store.ts';
import { DynamoObjectStore } from '../adapters/dynamodb/object-store.ts';
import { DynamoPresenceStore } from '../adapters/dynamodb/presence-store.ts';
import { jitteredRetry, type Retry } from '../adapters/dynamodb/retry.ts';
import { DynamoScheduleStore } from '../adapters/dynamodb/schedule-store.ts';
import { DynamoSettingsStore } from '../adapters/dynamodb/settings-store.ts';
import { DynamoWatchStore } from '../adapters/dynamodb/watch-store.ts';
import { MetricRegistry } from '../adapters/observability/registry.ts';
import { SystemIds } from '../adapters/system/ids.ts';
import { systemKeyCrypto } from '../adapters/system/key-crypto.ts';
import type { AgentServices } from '../app/agents/services.ts';
import { demandWritten } from '../app/engine/demands.ts';
import { endAttempt, wakeAgain } from '../app/engine/end-attempt.ts';
import type { Renderer } from '../app/engine/renderer.ts';
import type { EngineServices } from '../app/engine/services.ts';
import { unparkCluster } from '../app/engine/unpark.ts';
import { keyTokens } from '../app/keys/tokens.ts';
import { announceWith } from '../app/notify/start-outbox.ts';
import type { Clock, Logger, Metrics, OutboxStarter, Scheduler, SettingsStore, WorkflowStarter } from '../app/ports.ts';
import type { CoreServices } from '../app/services.ts';
import type { SystemSettings } from '../domain/shared/rollout.ts';
import { SECOND } from '../domain/shared/time.ts';

export interface Foundations {
  /** The document client, or the fault wrapper around it. */
  readonly sender: Sender;
  readonly table: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Left out: counted in this process. */
  readonly metrics?: Metrics;
  readonly random: () => number;
  readonly renderer: Renderer;
  /** The real Step Functions client, or the embedded engine; asked for late, since the engine calls handlers made of these services. */
  readonly workflows: WorkflowStarter;
  /** EventBridge Scheduler, or what stands for it. */
  readonly scheduler: Scheduler;
  /** The real Lambda, or the embedded function; asked for late as well. */
  readonly outbox: OutboxStarter;
  /** How long work asked for several times is gathered; 0 = not at all, as on Lambda and under a clock moved by hand. */
  readonly gatherMs: number;
  /** Told of work that nobody waits for. */
  readonly track?: (work: () => Promise<void>) => Promise<void>;
  /** Hash of the deployed wave definition; left out where executions do not outlive a deployment. */
  readonly definition?: string;
  /** Left out: 8 tries with jittered pauses. */
  readonly retry?: Retry;
}

/**
 * The engine and the agents' side: enough for everything but the people's API, imports and the tick. A function that is made of this does not carry
 * the rest.
 */
export function composeCore(f: Foundations) {
  const { clock, log, random, renderer, workflows, scheduler, metrics = new MetricRegistry() } = f;
  const given = { clock, log, random, renderer, workflows, scheduler, metrics };
  const ids = new SystemIds(clock);
  const table = new Table(f.sender, f.table, f.retry ?? jitteredRetry(random));
  const announce = announceWith(f.outbox, log);
  const objects = new DynamoObjectStore(table, clock, ids, announce);
  const settings = new DynamoSettingsStore(table, (also) => objects.alsoActions(also));
  const store = new DynamoEngineStore(table, announce);
  const engine: EngineServices = {
    ...given,
    ids,
    objects,
    settings,
    engine: store,
    lists: new DynamoListStore(table),
    board: new DynamoBoardStore(table, clock, ids),
    presence: new DynamoPresenceStore(table),
    schedules: new DynamoScheduleStore(table),
    soon: gathered(f),
    digest,
    definition: f.definition ?? null,
  };
  const agents = agentServices(engine, store, new DynamoCallStore(table), new DynamoWatchStore(table, announce));
  const services: CoreServices = { clock, ids, log, metrics, engine, agents, units: table.units };
  return { table, objects, services };
}

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

function agentServices(
  engine: EngineServices,
  runs: AgentServices['runs'],
  calls: AgentServices['calls'],
  watch: AgentServices['watch'],
): AgentServices {
  const { clock, ids, objects, presence, settings, log, metrics } = engine;
  return {
    clock,
    ids,
    objects,
    presence,
    runs,
    calls,
    watch,
    tokens: keyTokens(systemKeyCrypto),
    engine: {
      endAttempt: (end) => endAttempt(engine, end),
      toldAgain: (run) => wakeAgain(engine, run),
      unparkCluster: (cluster, codes) => unparkCluster(engine, cluster, codes),
      demandWritten: (demand) => demandWritten(engine, demand),
    },
    recentSettings: recent(settings, clock),
    // No credentials are given out yet, so there is nothing to mask.
    secretsOf: async () => [],
    log,
    metrics,
  };
}

/** What is asked for again before it was done is done once. A fault is logged: whoever asked has long gone on. */
function gathered({ gatherMs, clock, log, track = (work) => work() }: Foundations): EngineServices['soon'] {
  const waiting = new Set<string>();
  return async (name, work) => {
    if (gatherMs === 0) return work();
    if (waiting.has(name)) return;
    waiting.add(name);
    void clock.until(clock.now() + gatherMs).then(() => {
      waiting.delete(name);
      return track(work).catch((error: unknown) => log.warn('late_work_failed', { name, error: String(error) }));
    });
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
