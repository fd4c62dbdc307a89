import { OPERATOR_APP } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { type Maintenances, readMaintenances } from '../engine/maintenances.ts';
import { noticeOf } from '../engine/notices.ts';
import type { EngineServices } from '../engine/services.ts';
import { AppError } from '../errors.ts';
import { newManaged } from '../managed.ts';
import type { Also, Create, Downtime } from '../ports.ts';
import type { HeardAgent } from './presence.ts';
import type { AgentServices } from './services.ts';

const TRIES = 5;
/** DESIGN A4: the rest is opened by the next tick. */
const MOST_A_TICK = 2_000;
const AT_ONCE = 16;

/** SPEC §6: one open Downtime per silent agent, started at its last report; planned inside an active Maintenance. */
export async function openDowntimes(services: EngineServices, agents: readonly HeardAgent[]): Promise<void> {
  if (agents.length === 0) return;
  const now = services.clock.now();
  const due = agents.slice(0, MOST_A_TICK);
  const maintenances = await readMaintenances(services, now);
  const excluded = await excludedClusters(services, due, now);
  const left = due.filter((agent) => !excluded.has(agent.k8s_cluster ?? ''));
  const worker = async () => {
    for (let agent = left.pop(); agent !== undefined; agent = left.pop()) await openDowntime(services, maintenances, agent, now);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** `excluded_from_downtime_until` of the operator's app. */
async function excludedClusters(services: EngineServices, agents: readonly HeardAgent[], now: Instant): Promise<Set<string>> {
  const ids = agents.flatMap(({ k8s_cluster }) => (k8s_cluster === null ? [] : [derivedId.app(services.ids, k8s_cluster, OPERATOR_APP)]));
  const apps = await services.objects.getMany('k8s_app', ids);
  return new Set([...apps.values()].filter((app) => (app.excluded_from_downtime_until ?? 0) > now).map((app) => app.k8s_cluster));
}

/** Named after the agent and its last report: however often it is opened, it is one. */
async function openDowntime(services: EngineServices, maintenances: Maintenances, agent: HeardAgent, now: Instant): Promise<void> {
  const downtime = newDowntime(services, maintenances, agent, now);
  if (downtime === null) return;
  await create(services, downtime, now);
  const marked = await services.presence.markDowntime(agent.id, downtime.id, agent.last_seen);
  if (!marked) await closeWhereHeard(services, agent, downtime.id, now);
}

/** One that is there already was told about with its opening. */
async function create(services: EngineServices, downtime: Create<Downtime>, now: Instant): Promise<void> {
  try {
    await services.objects.create('downtime', downtime, [told(services, 'downtime_opened', downtime, 'has not been heard from', now)]);
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'conflict')) throw error;
  }
}

/** It reported between the look and the mark: nobody else would close this Downtime. */
async function closeWhereHeard(services: EngineServices, agent: HeardAgent, downtime: string, now: Instant): Promise<void> {
  const row = await services.presence.get(agent.id, true);
  if (row?.downtime !== downtime) await closeDowntime(services, downtime, now);
}

function newDowntime(services: EngineServices, maintenances: Maintenances, agent: HeardAgent, now: Instant): Create<Downtime> | null {
  const { organization, workspace, k8s_cluster } = agent;
  if (k8s_cluster === null) return null;
  const planned = maintenances.until({ organization, workspace, k8s_cluster }) !== null;
  return {
    ...newManaged({
      id: services.ids.child(agent.id, 'downtime', String(agent.last_seen)),
      name: `${agent.reported_agent_id} silent`,
      now,
    }),
    organization,
    workspace,
    k8s_cluster,
    kind: planned ? 'planned-maintenance' : 'generic',
    started_at: agent.last_seen,
    ended_at: null,
    agent: agent.id,
  };
}

interface Closing {
  readonly objects: EngineServices['objects'];
  readonly ids: EngineServices['ids'];
}

/** The next report closes the Downtime (SPEC §6). Closing a closed one changes nothing. */
export async function closeDowntime(services: Closing, id: string, now: Instant): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await services.objects.get('downtime', id, true);
    if (before === null || before.ended_at !== null) return;
    try {
      const notice = told(services, 'downtime_closed', before, 'is back', now);
      await services.objects.replace('downtime', before, { ...before, ended_at: now, updated_at: now }, [notice]);
      return;
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'stale') || attempt >= TRIES) throw error;
    }
  }
}

/** For an agent's report: the same with the agents' services. */
export const closeOnReport = (services: AgentServices, id: string, now: Instant): Promise<void> => closeDowntime(services, id, now);

function told(
  services: Pick<Closing, 'ids'>,
  event: 'downtime_opened' | 'downtime_closed',
  downtime: Create<Downtime>,
  words: string,
  now: Instant,
): Also {
  const { id, organization, workspace, k8s_cluster, agent, kind } = downtime;
  const about = { subject: id, organization, data: { workspace, k8s_cluster, agent, kind } };
  return { kind: 'notice', notice: noticeOf(services, event, about, `Agent ${agent} of cluster ${k8s_cluster} ${words}.`, now) };
}
