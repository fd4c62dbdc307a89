import middy from '@middy/core';
import { AppError } from '../app/errors.ts';
import { bearerToken } from '../app/keys/authenticate.ts';
import { looksLikeKey } from '../app/keys/format.ts';
import type { Logger } from '../app/ports.ts';
import { agentReport, claimRequest, finishRequest, progressRequest } from '../contracts/api/agent.ts';
import type { RouteSpec } from '../contracts/api/route.ts';
import { namedRoutes } from '../contracts/api/route.ts';
import { agentRoutes } from '../contracts/api/routes/agent.ts';
import type { AgentApi, RunCall } from './agent-api.ts';
import { DEFAULT_MAX_BYTES, jsonBody } from './body.ts';
import { type HttpEvent, type HttpResult, type Reply, reply, requestIdOf, resultOf } from './event.ts';
import { failed } from './failed.ts';
import { iso } from './present/common.ts';
import { agentRun } from './present/rollout.ts';
import { Router } from './router.ts';
import { validated } from './validate.ts';

const NO_KEY = 'Send the agent\'s key as "Authorization: Bearer bra_…"; POST /api/v1/agent-keys/ makes one.';

/** The key as it came: the use case proves it. One of people's keys is told apart by its beginning, before anything is read. */
function tokenOf(event: HttpEvent): string {
  const header = event.headers['authorization'];
  const token = header === undefined ? null : bearerToken(header);
  if (token === null) {
    const code = header === undefined ? 'not_authenticated' : 'authentication_failed';
    throw new AppError('unauthenticated', [{ code, detail: NO_KEY, attr: null }]);
  }
  if (token.startsWith('brk_'))
    throw new AppError('forbidden', [
      { code: 'permission_denied', detail: 'This is an API key; agents use keys from POST /api/v1/agent-keys/ (bra_…).', attr: null },
    ]);
  if (!looksLikeKey('bra', token))
    throw new AppError('unauthenticated', [
      { code: 'authentication_failed', detail: 'The key is not complete or was mistyped; copy it again.', attr: null },
    ]);
  return token;
}

type Verb = keyof (typeof agentRoutes)['agent'];
type Serve = (agents: AgentApi, event: HttpEvent, spec: RouteSpec, id: string) => Promise<Reply>;

const bodyAs = (event: HttpEvent, spec: RouteSpec): unknown => jsonBody(event, spec.max_bytes ?? DEFAULT_MAX_BYTES);

const callerOf = (event: HttpEvent) => ({
  token: tokenOf(event),
  cluster_uid: event.headers['x-cluster-uid'] ?? null,
  agent_id: event.headers['x-agent-id'] ?? null,
});
const runCall = (event: HttpEvent, id: string): RunCall => ({ ...callerOf(event), run: id });

/** Thousands of these arrive each second: no more is done for one than its meaning asks for (DESIGN §9). */
async function beat(agents: AgentApi, event: HttpEvent, spec: RouteSpec): Promise<Reply> {
  const token = tokenOf(event);
  const report = validated(agentReport, bodyAs(event, spec));
  const heard = await agents.recordHeartbeat({ token, report });
  return reply(201, {
    status: 'success',
    agent_id: heard.agent_id,
    reported_agent_id: heard.reported_agent_id,
    health_data_id: null,
    pop_id: null,
    pop_name: null,
    endpoint_monitoring_mode: 'auto',
    operator_global_endpoint_monitor: false,
    workspace_id: heard.workspace_id,
    workspace_name: heard.workspace_name,
    organization_id: heard.organization_id,
    organization_name: heard.organization_name,
    k8s_cluster_id: heard.k8s_cluster_id,
    action_runs: heard.action_runs.map(({ id, block, action, attempt, deadline }) => ({
      id,
      block,
      action,
      attempt,
      deadline: iso(deadline),
    })),
    cancel_action_runs: heard.cancel_action_runs,
    next_report_seconds: heard.next_report_seconds,
  });
}

const SERVED: Readonly<Record<Verb, Serve>> = {
  health: beat,
  endpoints: async (agents, event) => reply(200, await agents.listAgentEndpoints(callerOf(event))),
  claim: async (agents, event, spec, id) => {
    const call = runCall(event, id);
    validated(claimRequest, bodyAs(event, spec));
    const { run, config } = await agents.claimRun(call);
    return reply(200, { ...agentRun(run), config });
  },
  progress: async (agents, event, spec, id) => {
    const call = runCall(event, id);
    const { stdout = null, stderr = null } = validated(progressRequest, bodyAs(event, spec));
    return reply(200, agentRun(await agents.reportProgress({ ...call, stdout, stderr })));
  },
  finish: async (agents, event, spec, id) => {
    const call = runCall(event, id);
    const { stdout = null, stderr = null, exit_code = null, status, finished_at = null } = validated(finishRequest, bodyAs(event, spec));
    return reply(
      200,
      agentRun(await agents.finishRun({ ...call, stdout, stderr, exit_code, cancelled: status === 'cancelled', finished_at })),
    );
  },
};

/** The agents' API (SPEC §6, §7). Each use case proves the key in its own way, so there is no authorizer before it. */
export function makeAgentApi(agents: AgentApi, log: Logger) {
  const router = new Router(namedRoutes(agentRoutes).map((route) => ({ ...route, serve: SERVED[route.verb as Verb] })));

  async function serve(event: HttpEvent): Promise<HttpResult> {
    const { route, id } = router.match(event.requestContext.http.method, event.rawPath);
    return resultOf(await route.serve(agents, event, route.spec, id), requestIdOf(event));
  }

  return middy<HttpEvent, HttpResult>()
    .onError((request) => {
      request.response = failed(request.error, request.event, log);
    })
    .handler(serve);
}
