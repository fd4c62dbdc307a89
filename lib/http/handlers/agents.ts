import { type AgentView, getAgent, listAgents, rebindAgent } from '../../app/agents/read-agents.ts';
import type { EngineServices } from '../../app/engine/services.ts';
import type { HandlersOf } from '../api-types.ts';
import { reply } from '../event.ts';
import { envelope } from '../paging.ts';
import { parentsOf } from '../present/common.ts';
import { agent as present } from '../present/fleet.ts';
import { split } from './filters.ts';

export function agentHandlers(engine: EngineServices): HandlersOf<'agents'> {
  const shown = async (views: readonly AgentView[]) => {
    const owners = views.map(({ agent }) => agent);
    const parents = await parentsOf(engine.objects, owners);
    return views.map((view) => present(view, parents));
  };
  return {
    list: async ({ query, address }) => {
      const { page, filters } = split(query);
      const found = await listAgents(engine, filters, page);
      return reply(200, envelope(found, await shown(found.rows), page, address));
    },
    get: async ({ id }) => reply(200, (await shown([await getAgent(engine, id)]))[0]),
    rebind: async ({ id, actor }) => reply(200, (await shown([await rebindAgent(engine, id, actor)]))[0]),
  };
}
