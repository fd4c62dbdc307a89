import { progressOf } from '../../domain/action-run/verification.ts';
import { type RolloutStatus, rolloutStatus } from '../../domain/operator/rollout-status.ts';
import { isStuck } from '../../domain/operator/stuck.ts';
import type { CalendarFacts, TargetFacts } from '../../domain/plan/facts.ts';
import { earliestStart, holdsOf, isHolding } from '../../domain/plan/holds.ts';
import { type AppState, OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { Blocker, BlockerCode, Item } from '../../domain/shared/rollout.ts';
import { type Instant, type Millis, SECOND } from '../../domain/shared/time.ts';
import { compareVersions } from '../../domain/version/compare.ts';
import { derivedId } from '../derived-ids.ts';
import { blankItem } from '../engine/blank-item.ts';
import { alwaysOpen, calendarKey, calendarsOf } from '../engine/calendars.ts';
import type { Ruling } from '../engine/configs.ts';
import { type Maintenances, readMaintenances } from '../engine/maintenances.ts';
import type { EngineServices } from '../engine/services.ts';
import { targetFactsOf } from '../engine/target-facts.ts';
import { planFactsOf, readFrame, type WaveFrame } from '../engine/wave-facts.ts';
import type { ClusterRow, FleetRows } from './fleet-rows.ts';

/** SPEC §5: the operator on one cluster. */
export interface OperatorRow {
  readonly cluster_id: string;
  readonly cluster: string;
  readonly workspace_id: string;
  readonly workspace: string;
  readonly organization_id: string;
  readonly organization: string;
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
  readonly fleet: FleetRows;
  readonly ruling: Ruling;
  readonly maintenances: Maintenances;
  readonly calendars: ReadonlyMap<string, CalendarFacts>;
  /** Each wave is read once for all its items. */
  readonly frame: (wave: string) => Promise<WaveFrame | null>;
  readonly now: Instant;
}

/** SPEC §5 Dashboard rows, with everything that holds each cluster's item. */
export async function rowsOf(services: EngineServices, fleet: FleetRows): Promise<OperatorRow[]> {
  const now = services.clock.now();
  const frames = new Map<string, Promise<WaveFrame | null>>();
  const frame = (wave: string): Promise<WaveFrame | null> => {
    const known = frames.get(wave) ?? readFrame(services, wave, now);
    frames.set(wave, known);
    return known;
  };
  const ruling = { config: fleet.config, system: null, settings: fleet.settings };
  const keys = new Set(fleet.clusters.map(({ cluster }) => keyOf(fleet, cluster)));
  const calendars = await calendarsOf(
    services,
    ruling,
    [...keys].map((key) => ({ key, ready: 0 })),
    now,
  );
  const looked: Looked = { services, fleet, ruling, maintenances: await readMaintenances(services, now), calendars, frame, now };
  return Promise.all(fleet.clusters.map((row) => rowOf(looked, row)));
}

async function rowOf(looked: Looked, row: ClusterRow): Promise<OperatorRow> {
  const { services, fleet, now } = looked;
  const { cluster, item } = row;
  const target = await factsOf(looked, row);
  const blockers = await blockersOf(looked, row, target);
  const presence = fleet.rows.presences.get(derivedId.operatorAgent(services.ids, cluster.id));
  const last_seen = presence?.last_seen ?? null;
  const waits = item !== null && (item.status === 'pending' || item.status === 'retrying');
  return {
    cluster_id: cluster.id,
    cluster: cluster.name,
    workspace_id: cluster.workspace,
    workspace: fleet.rows.workspaces.get(cluster.workspace)?.name ?? '',
    organization_id: cluster.organization,
    organization: fleet.rows.organizations.get(cluster.organization)?.name ?? '',
    installed_version: row.installed_version,
    desired_version: row.desired_version,
    last_seen,
    silent_for: last_seen === null ? null : Math.max(0, now - last_seen),
    state: target.cluster_state,
    rollout_status: statusOf(looked, row, target, blockers),
    blockers,
    earliest_start: waits ? earliestStart(blockers, now) : null,
    rollout: item?.rollout ?? null,
    item: item?.id ?? null,
    stuck: isStuck(stuckFacts(row, blockers), now),
  };
}

const keyOf = ({ rows }: FleetRows, cluster: ClusterRow['cluster']): string =>
  calendarKey(rows.workspaces.get(cluster.workspace), rows.organizations.get(cluster.organization));

/** The same facts as for a waiting item; a cluster without one is asked about as if it had. */
function factsOf(
  { services, fleet, ruling, maintenances, calendars, now }: Looked,
  { cluster, block, item, desired_version }: ClusterRow,
): Promise<TargetFacts> {
  const where = { block, organization: cluster.organization, workspace: cluster.workspace, k8s_cluster: cluster.id };
  const asked: Item = item ?? {
    ...blankItem(services, now),
    ...where,
    block_name: OPERATOR_BLOCK,
    rendered_target_version: desired_version,
  };
  const rows = { ...fleet.rows, presences: fleet.agentsOf(cluster) };
  return targetFactsOf(
    services,
    rows,
    asked,
    ruling,
    calendars.get(keyOf(fleet, cluster)) ?? alwaysOpen(0),
    maintenances.until(where),
    now,
  );
}

async function blockersOf(looked: Looked, { item }: ClusterRow, target: TargetFacts): Promise<Blocker[]> {
  const remarks = remarksOf(target, looked.now);
  if (item === null) return [...conditionsOf(looked, target), ...remarks];
  if (item.status === 'in_progress') {
    const run = item.action_run === null ? null : await looked.services.engine.run(item.action_run);
    const shown = run === null ? null : progressOf(run);
    return [...(shown === null ? [] : [shown]), ...remarks];
  }
  const frame = await looked.frame(item.rollout);
  return frame === null ? remarks : [...holdsOf(planFactsOf(frame), { item, target }, looked.now), ...remarks];
}

const blocker = (code: BlockerCode, detail: string | null = null, until: Instant | null = null): Blocker => ({ code, detail, until });

/** What would hold an item if there were one: the part of SPEC §3.8 that is about the cluster itself. */
function conditionsOf({ fleet, now }: Looked, target: TargetFacts): Blocker[] {
  const { cluster_paused, agent } = target;
  const silent = 'missing' in agent ? null : now - agent.last_seen;
  return [
    ...(cluster_paused === null ? [] : [blocker('cluster_paused', cluster_paused.reason, cluster_paused.until)]),
    ...('missing' in agent ? [blocker('agent_missing', agent.missing)] : []),
    ...(silent !== null && silent >= fleet.settings.AGENT_WARNING_AFTER_SECONDS * SECOND
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
function statusOf({ fleet }: Looked, row: ClusterRow, target: TargetFacts, blockers: readonly Blocker[]) {
  const remembered = fleet.rows.blocks.get(row.block)?.remembered[fleet.config?.id ?? ''];
  const last = remembered?.outcome === 'failed' ? ({ status: 'failed', target_version: remembered.target_version } as const) : null;
  return rolloutStatus({
    cluster_paused: target.cluster_paused !== null,
    item: row.item === null ? last : { status: row.item.status, target_version: row.item.rendered_target_version },
    blockers: blockers.filter((b) => b.code !== 'cli_managed').map((b) => b.code),
    installed_version: row.installed_version,
    desired_version: row.desired_version,
  });
}

/** Nothing tells since when its gates are open; while nothing holds it, they count as open since its last move. */
function stuckFacts({ installed_version, desired_version, item }: ClusterRow, blockers: readonly Blocker[]) {
  const verdict = desired_version === null ? 'up_to_date' : compareVersions(installed_version, desired_version, false);
  const moved = item === null ? null : Math.max(item.enqueued_at, item.dispatched_at ?? 0);
  return {
    out_of_date: verdict === 'upgrade' || verdict === 'first_install',
    last_progress_at: moved,
    gates_open_since: moved === null || blockers.some(isHolding) ? null : moved,
  };
}
