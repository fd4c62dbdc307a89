import { type RolloutStatus, rolloutStatus } from '../../domain/operator/rollout-status.ts';
import { isStuck } from '../../domain/operator/stuck.ts';
import type { CalendarFacts, TargetFacts } from '../../domain/plan/facts.ts';
import { earliestStart, holdsOf, isHolding } from '../../domain/plan/holds.ts';
import { type AppState, OPERATOR_APP, OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { Blocker, BlockerCode, Item } from '../../domain/shared/rollout.ts';
import { type Instant, type Millis, SECOND } from '../../domain/shared/time.ts';
import { compareVersions } from '../../domain/version/compare.ts';
import { derivedId } from '../derived-ids.ts';
import { blankItem } from '../engine/blank-item.ts';
import { alwaysOpen, calendarsOf } from '../engine/calendars.ts';
import { type Maintenances, readMaintenances } from '../engine/maintenances.ts';
import type { EngineServices } from '../engine/services.ts';
import { type AgentRows, agentOf, pauseOf, stateOf } from '../engine/target-facts.ts';
import { planFactsOf, readFrame, type WaveFrame } from '../engine/wave-facts.ts';
import type { BoardItem, BoardPlace, ClusterFacts, Entry } from './board.ts';
import { desiredVersion, type OperatorTarget } from './cluster-facts.ts';

/** SPEC §5: the operator on one cluster. */
export interface OperatorRow extends BoardPlace {
  readonly installed_version: string | null;
  readonly desired_version: string | null;
  readonly last_seen: Instant | null;
  readonly silent_for: Millis | null;
  readonly state: AppState | null;
  readonly rollout_status: RolloutStatus;
  readonly blockers: readonly Blocker[];
  readonly earliest_start: Instant | null;
  /** The wave and the item that concern the cluster now; null when none does. */
  readonly rollout: string | null;
  readonly item: string | null;
  readonly stuck: boolean;
}

interface Looked {
  readonly services: EngineServices;
  readonly target: OperatorTarget;
  readonly agents: AgentRows;
  readonly maintenances: Maintenances;
  readonly calendars: ReadonlyMap<string, CalendarFacts>;
  /** Each wave is read once for all its items. */
  readonly frame: (wave: string) => Promise<WaveFrame | null>;
  /** What an item is where the board does not say. */
  readonly blank: Item;
  readonly now: Instant;
}

/** SPEC §5 Dashboard rows, with everything that holds each cluster's item. Besides the facts it reads waves and windows, each once. */
export async function rowsOf(
  services: EngineServices,
  target: OperatorTarget,
  all: readonly ClusterFacts[],
  agents: AgentRows,
): Promise<OperatorRow[]> {
  const now = services.clock.now();
  const frames = new Map<string, Promise<WaveFrame | null>>();
  const frame = (wave: string): Promise<WaveFrame | null> => {
    const known = frames.get(wave) ?? readFrame(services, wave, now);
    frames.set(wave, known);
    return known;
  };
  const lanes = [...new Set(all.map(({ calendar }) => calendar))].map((key) => ({ key, ready: 0 }));
  const [calendars, maintenances] = await Promise.all([calendarsOf(services, target, lanes, now), readMaintenances(services, now)]);
  const looked: Looked = { services, target, agents, maintenances, calendars, frame, blank: blankItem(services, now), now };
  return Promise.all(all.map((facts) => rowOf(looked, facts)));
}

async function rowOf(looked: Looked, facts: ClusterFacts): Promise<OperatorRow> {
  const { now, agents, services } = looked;
  const { cluster_id, cluster, workspace_id, workspace, organization_id, organization, installed_version, item } = facts;
  const target = await targetOf(looked, facts);
  const blockers = await blockersOf(looked, facts, target);
  const last_seen = agents.presences.get(derivedId.operatorAgent(services.ids, cluster_id))?.last_seen ?? null;
  const waits = item !== null && (item.status === 'pending' || item.status === 'retrying');
  const desired_version = desiredVersion(looked.target, facts);
  return {
    ...{ cluster_id, cluster, workspace_id, workspace, organization_id, organization, installed_version, desired_version },
    last_seen,
    silent_for: last_seen === null ? null : Math.max(0, now - last_seen),
    state: target.cluster_state,
    rollout_status: statusOf(
      facts,
      desired_version,
      target.cluster_paused !== null,
      blockers.map(({ code }) => code),
    ),
    blockers,
    earliest_start: waits ? earliestStart(blockers, now) : null,
    rollout: item?.rollout ?? null,
    item: item?.id ?? null,
    stuck: isStuck(stuckFacts(facts, desired_version, blockers), now),
  };
}

/** The same facts as for a waiting item; a cluster without one is asked about as if it had. */
async function targetOf({ services, target, agents, maintenances, calendars, now }: Looked, facts: ClusterFacts): Promise<TargetFacts> {
  const where = { organization: facts.organization_id, workspace: facts.workspace_id, k8s_cluster: facts.cluster_id };
  const agent = await agentOf(services, agents, where);
  return {
    exists: true,
    cli_managed: facts.cli_managed,
    demand: 'upgrade',
    cluster_paused: pauseOf({ rollout_override: facts.override }, now),
    agent,
    cluster_state: stateOf(agents, agent, { state: facts.app_state }, target.settings, now),
    installed: { version: facts.installed_version, app: OPERATOR_APP, reported: facts.app_state !== null },
    has_contact: facts.has_contact,
    active_maintenance_until: maintenances.until(where),
    calendar: calendars.get(facts.calendar) ?? alwaysOpen(0),
  };
}

async function blockersOf(looked: Looked, { item, progress }: ClusterFacts, target: TargetFacts): Promise<Blocker[]> {
  const remarks = remarksOf(target, looked.now);
  if (item === null) return [...conditionsOf(looked, target), ...remarks];
  if (item.status === 'in_progress') return [...(progress === null ? [] : [progress]), ...remarks];
  const frame = await looked.frame(item.rollout);
  if (frame === null) return remarks;
  return [...holdsOf(planFactsOf(frame), { item: wholeItem(looked, item), target }, looked.now), ...remarks];
}

const wholeItem = ({ blank }: Looked, item: BoardItem): Item => ({ ...blank, block_name: OPERATOR_BLOCK, ...item });

const blocker = (code: BlockerCode, detail: string | null = null, until: Instant | null = null): Blocker => ({ code, detail, until });

/** What would hold an item if there were one: the part of SPEC §3.8 that is about the cluster itself. */
function conditionsOf({ target: { settings }, now }: Looked, target: TargetFacts): Blocker[] {
  const { cluster_paused, agent } = target;
  const silent = 'missing' in agent ? null : now - agent.last_seen;
  return [
    ...(cluster_paused === null ? [] : [blocker('cluster_paused', cluster_paused.reason, cluster_paused.until)]),
    ...('missing' in agent ? [blocker('agent_missing', agent.missing)] : []),
    ...(silent !== null && silent >= settings.AGENT_WARNING_AFTER_SECONDS * SECOND
      ? [blocker('agent_silent', `no report for ${Math.floor(silent / SECOND)} s`)]
      : []),
    ...(target.cluster_state === 'CRITICAL' ? [blocker('cluster_critical')] : []),
    ...(target.has_contact ? [] : [blocker('contact_missing')]),
  ];
}

function remarksOf(target: TargetFacts, now: Instant): Blocker[] {
  const maintenance = target.active_maintenance_until;
  return [
    ...(maintenance !== null && maintenance > now ? [blocker('maintenance_active', null, maintenance)] : []),
    ...(target.cli_managed ? [blocker('cli_managed')] : []),
  ];
}

/** The last item's end is on the block (SPEC §2.6): a failure for the present target shows. */
function statusOf(facts: ClusterFacts, desired_version: string | null, paused: boolean, blockers: readonly BlockerCode[]): RolloutStatus {
  const { item, failure, installed_version } = facts;
  const last = failure === null ? null : ({ status: 'failed', target_version: failure.target_version } as const);
  return rolloutStatus({
    cluster_paused: paused,
    item: item === null ? last : { status: item.status, target_version: item.rendered_target_version },
    blockers: blockers.filter((code) => code !== 'cli_managed'),
    installed_version,
    desired_version,
  });
}

/** Nothing tells since when its gates are open; while nothing holds it, they count as open since its last move. */
function stuckFacts({ installed_version, item }: ClusterFacts, desired_version: string | null, blockers: readonly Blocker[]) {
  const verdict = desired_version === null ? 'up_to_date' : compareVersions(installed_version, desired_version, false);
  const moved = item === null ? null : Math.max(item.enqueued_at, item.dispatched_at ?? 0);
  return {
    out_of_date: verdict === 'upgrade' || verdict === 'first_install',
    last_progress_at: moved,
    gates_open_since: moved === null || blockers.some(isHolding) ? null : moved,
  };
}

/** What the board keeps of a row. */
export const entryOf = (facts: ClusterFacts, row: OperatorRow, sign: string): Entry => ({
  facts,
  sign,
  state: row.state,
  status: row.rollout_status,
  blockers: row.blockers.map(({ code }) => code),
  stuck: row.stuck,
});

/** SPEC §3.8: an entry may be a tick old, but which version is wanted is never (a person has said so). */
export function withTarget(entry: Entry, target: OperatorTarget, now: Instant): Entry {
  const { facts, blockers } = entry;
  return {
    ...entry,
    status: statusOf(facts, desiredVersion(target, facts), pauseOf({ rollout_override: facts.override }, now) !== null, blockers),
  };
}
