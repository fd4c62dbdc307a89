import { DynamoGaugeStore } from '../adapters/dynamodb/gauge-store.ts';
import { DynamoIdempotencyStore } from '../adapters/dynamodb/idempotency-store.ts';
import { DynamoImportStore } from '../adapters/dynamodb/import-store.ts';
import { DynamoOutboxStore } from '../adapters/dynamodb/outbox-store.ts';
import { systemKeyCrypto } from '../adapters/system/key-crypto.ts';
import { revokeKeyOfAgents } from '../app/agents/revoke-key.ts';
import type { AgentServices } from '../app/agents/services.ts';
import { afterChange, type Change } from '../app/engine/after-change.ts';
import { demandWritten } from '../app/engine/demands.ts';
import { targetsInScope } from '../app/engine/scope-count.ts';
import type { EngineServices } from '../app/engine/services.ts';
import { touchChanged } from '../app/engine/touch.ts';
import { configBuilder } from '../app/import/config-builder.ts';
import type { ImportServices, ImportStore } from '../app/import/ports.ts';
import { archive } from '../app/resources/archive.ts';
import type { ResourceServices } from '../app/resources/services.ts';
import type { Services } from '../app/services.ts';
import { parseSelector } from '../domain/demand/selector.ts';
import { composeCore, type Foundations } from './compose-core.ts';

/** The one place where stores, engine and agents' side are put together: on AWS, locally and in tests. */
export function compose(f: Foundations) {
  const { table, objects, services: core } = composeCore(f);
  const { clock, ids, engine, agents } = core;
  const imports = new DynamoImportStore(table, clock, ids, (also) => objects.alsoActions(also));
  const resources = resourceServices(engine, agents);
  const services: Services = {
    ...core,
    gauges: new DynamoGaugeStore(table),
    resources,
    imports: importServices(engine, resources, imports),
    notices: { clock, outbox: new DynamoOutboxStore(table), starter: f.outbox },
    idempotency: new DynamoIdempotencyStore(table),
  };
  return { table, services };
}

function resourceServices(engine: EngineServices, agents: AgentServices): ResourceServices {
  const { clock, ids, objects, settings, log } = engine;
  return {
    clock,
    ids,
    objects,
    settings,
    log,
    renderer: engine.renderer,
    crypto: systemKeyCrypto,
    demands: { run: (demand) => demandWritten(engine, demand) },
    changes: { changed: (change) => followed(engine, change) },
    scope: { targets: (config) => targetsInScope(engine, config) },
    windows: { owners: (id) => engine.engine.windowOwners(id) },
    schedules: engine.schedules,
    agentKeys: { revoked: (key) => revokeKeyOfAgents(agents, key) },
  };
}

function importServices(engine: EngineServices, resources: ResourceServices, imports: ImportStore): ImportServices {
  const { clock, ids, objects, settings } = engine;
  return {
    clock,
    ids,
    objects,
    settings,
    imports,
    configs: configBuilder,
    renderer: engine.renderer,
    changed: (change) => followed(engine, change),
    demandWritten: (demand) => demandWritten(engine, demand),
    selectorProblem: (selector) => {
      const parsed = parseSelector(selector);
      return parsed.ok ? null : parsed.reason;
    },
    archive: async (type, id, actor) => {
      await archive(resources, type, id, { actor, reason: 'not in the fleet file any more', force: true });
    },
  };
}

/** Best effort: what a change means for waves is also found by the next look at them. */
async function followed(engine: EngineServices, change: Change): Promise<void> {
  try {
    await touchChanged(engine, change);
    await afterChange(engine, change);
  } catch (error) {
    engine.log.warn('change_not_followed', { type: change.type, id: change.id, error: String(error) });
  }
}
