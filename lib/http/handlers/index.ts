import type { EngineServices } from '../../app/engine/services.ts';
import type { ImportServices } from '../../app/import/ports.ts';
import type { ResourceServices } from '../../app/resources/services.ts';
import type { Handlers } from '../api-types.ts';
import { agentHandlers } from './agents.ts';
import { configHandlers } from './configs.ts';
import * as fleet from './fleet.ts';
import { operatorHandlers } from './operator.ts';
import * as platform from './platform.ts';
import { itemHandlers, runHandlers, waveHandlers } from './rollouts.ts';

export interface HandlerServices extends platform.Numbers {
  readonly resources: ResourceServices;
  readonly engine: EngineServices;
  readonly imports: ImportServices;
}

/** Every operation of the people's API with what it does. */
export const handlersOf = ({ resources, engine, imports, ...numbers }: HandlerServices): Handlers => ({
  organizations: fleet.organizationHandlers(resources),
  workspaces: fleet.workspaceHandlers(resources),
  clusters: fleet.clusterHandlers(resources),
  blocks: fleet.blockHandlers(resources),
  apps: fleet.appHandlers(resources),
  windows: fleet.windowHandlers(resources),
  maintenances: fleet.maintenanceHandlers(resources),
  downtimes: fleet.downtimeHandlers(resources),
  agents: agentHandlers(engine),
  configs: configHandlers(resources, engine),
  waves: waveHandlers(engine),
  items: itemHandlers(engine),
  runs: runHandlers(engine),
  operator: operatorHandlers(engine),
  systemConfig: platform.settingsHandlers(resources),
  apiKeys: platform.apiKeyHandlers(resources),
  agentKeys: platform.agentKeyHandlers(resources),
  imports: platform.importHandlers(imports),
  meta: platform.metaHandlers(numbers),
});
