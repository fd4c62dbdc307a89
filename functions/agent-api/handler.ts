import { agentApi } from '../../lib/app/agents/agent-api.ts';
import type { Services } from '../../lib/app/services.ts';
import { makeAgentApi } from '../../lib/http/agents.ts';
import type { HttpEvent } from '../../lib/http/event.ts';
import { coldStart } from '../../lib/lambda/cold-start.ts';

/** What agents call. */
export const makeHandler = (services: Services) => {
  const handle = makeAgentApi(agentApi(services.agents), services.log);
  return (event: unknown, context: never) => services.units.within('agent', async () => handle(event as HttpEvent, context));
};

export const handler = coldStart('agent-api', makeHandler);
