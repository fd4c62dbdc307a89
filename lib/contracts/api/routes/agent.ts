import * as agent from '../agent.ts';
import { agentRun, claimedRun } from '../rollouts.ts';
import { MEGABYTE, route } from '../route.ts';

const run = (verb: string, summary: string) =>
  ({ path: `agent/action-runs/{id}/${verb}`, method: 'POST', right: 'act_as_agent', summary, conflicts: true }) as const;

/** What agents call; a function of its own serves these. */
export const agentRoutes = {
  agent: {
    health: route({
      path: 'agent/health',
      method: 'POST',
      right: 'act_as_agent',
      summary: 'Register and report; hands out what waits',
      request: agent.agentReport,
      answers: { 201: agent.agentReportAnswer },
      conflicts: true,
    }),
    endpoints: route({
      path: 'agent/endpoints',
      method: 'GET',
      right: 'act_as_agent',
      summary: 'Endpoints to probe',
      answers: { 200: agent.agentEndpoints },
    }),
    claim: route({ ...run('claim', 'Take an action run and get its config'), request: agent.claimRequest, answers: { 200: claimedRun } }),
    progress: route({
      ...run('progress', 'Report log tails'),
      request: agent.progressRequest,
      answers: { 200: agentRun },
      max_bytes: 5 * MEGABYTE,
    }),
    finish: route({
      ...run('finish', 'Report how it ended'),
      request: agent.finishRequest,
      answers: { 200: agentRun },
      max_bytes: 5 * MEGABYTE,
    }),
  },
} as const;
