import { type NamedRoute, namedRoutes } from './route.ts';
import { agentRoutes } from './routes/agent.ts';
import { fleetRoutes } from './routes/fleet.ts';
import { platformRoutes } from './routes/platform.ts';
import { rolloutRoutes } from './routes/rollout.ts';

/** The whole API but the agents' part, by resource and operation. */
export const apiRoutes = { ...fleetRoutes, ...rolloutRoutes, ...platformRoutes } as const;

/** Every operation, in the order of the document. */
export const everyRoute = (): NamedRoute[] => [...namedRoutes(apiRoutes), ...namedRoutes(agentRoutes)];
