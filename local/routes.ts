import * as agentApi from '../functions/agent-api/handler.ts';
import * as api from '../functions/api/handler.ts';
import * as authorizer from '../functions/authorizer/handler.ts';
import type { Telemetry } from '../lib/adapters/observability/telemetry.ts';
import type { Services } from '../lib/app/services.ts';
import { observed } from '../lib/lambda/once.ts';
import type { Route } from './gateway.ts';
import type { LocalHandler } from './lambda.ts';

/** The routes of the HTTP API (DESIGN §6), the longest prefix first. */
export function routesOf(services: Services, telemetry: Telemetry): Route[] {
  const local = (handler: (event: never, context: never) => unknown): LocalHandler => {
    const seen = observed(telemetry, async (event, context) => handler(event as never, context));
    return (event, context) => seen(event, context as never);
  };
  return [
    {
      prefix: '/api/v1/agent/',
      routeKey: 'ANY /api/v1/agent/{proxy+}',
      functionName: 'agent-api',
      handler: local(agentApi.makeHandler(services)),
    },
    {
      prefix: '/api/v1/',
      routeKey: 'ANY /api/v1/{proxy+}',
      functionName: 'api',
      // Answers are checked against the contract here, never on AWS.
      handler: local(api.makeHandler(services, true)),
      authorizer: local(authorizer.makeHandler(services)),
    },
  ];
}
