import type { AgentServices } from './agents/services.ts';
import type { EngineServices } from './engine/services.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { ImportServices } from './import/ports.ts';
import type { OutboxTick } from './notify/start-outbox.ts';
import type { Clock, GaugeStore, Ids, Logger, Metrics } from './ports.ts';
import type { ResourceServices } from './resources/services.ts';

/** What drives waves and serves agents. */
export interface CoreServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly engine: EngineServices;
  readonly agents: AgentServices;
  /** Books what `work` spends on the table under a name. */
  readonly units: { within<T>(operation: string, work: () => Promise<T>): Promise<T> };
}

/** Everything the handlers work with, built once per cold start: each part of the program with what it needs. */
export interface Services extends CoreServices {
  readonly gauges: GaugeStore;
  readonly resources: ResourceServices;
  readonly imports: ImportServices;
  readonly notices: OutboxTick;
  readonly idempotency: IdempotencyStore;
}
