import type { RouteSpec } from './route.ts';
import { fleetRoutes } from './routes/fleet.ts';
import { agentRoutes, platformRoutes } from './routes/platform.ts';
import { rolloutRoutes } from './routes/rollout.ts';

export { agentRoutes } from './routes/platform.ts';

/** The whole API but the agents' part, by resource and operation. */
export const apiRoutes = { ...fleetRoutes, ...rolloutRoutes, ...platformRoutes } as const;

type Nested = Readonly<Record<string, Readonly<Record<string, RouteSpec>>>>;

export interface NamedRoute {
  readonly operation: string;
  readonly resource: string;
  readonly verb: string;
  readonly spec: RouteSpec;
}

export const namedRoutes = (nested: Nested): NamedRoute[] =>
  Object.entries(nested).flatMap(([resource, verbs]) =>
    Object.entries(verbs).map(([verb, spec]) => ({ operation: `${resource}_${verb}`, resource, verb, spec })),
  );

/** Every operation, in the order of the document. */
export const everyRoute = (): NamedRoute[] => [...namedRoutes(apiRoutes), ...namedRoutes(agentRoutes)];
