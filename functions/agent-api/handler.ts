import { agentApi } from '../../lib/app/agents/agent-api.ts';
import type { CoreServices } from '../../lib/app/services.ts';
import { makeAgentApi } from '../../lib/http/agents.ts';
import type { HttpEvent } from '../../lib/http/event.ts';
import { coreStart } from '../../lib/lambda/core-start.ts';

/** What agents call. */
export const makeHandler = (services: CoreServices) => {
  const handle = makeAgentApi(agentApi(services.agents), services.log);
  return (event: unknown, context: never) => services.units.within('agent', async () => handle(event as HttpEvent, context));
};

export const handler = coreStart('agent-api', makeHandler);
