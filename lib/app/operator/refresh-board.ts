import { MINUTE } from '../../domain/shared/time.ts';
import { everyAgent } from '../agents/every-agent.ts';
import { encodeInboxRun, type Presence } from '../agents/presence.ts';
import { derivedId } from '../derived-ids.ts';
import type { EngineServices } from '../engine/services.ts';
import { type AgentRows, agentRows } from '../engine/target-facts.ts';
import { EVERY_CLUSTER } from '../engine/touch.ts';
import type { Board, BoardMarks, ClusterFacts, Entry } from './board.ts';
import { type OperatorTarget, readFacts, readOperatorTarget } from './cluster-facts.ts';
import { entryOf, rowsOf } from './rows.ts';

/** Clusters whose facts are read at once. */
const AT_ONCE = 500;
/** Touches taken up by one look; more of them wait for the next. */
const TOUCHES = 1000;
/** Every cluster's facts are read again once in so many minutes, whatever its agent's row shows: what no sign tells is mended so. */
const ROUND = 60;

/**
 * Writes the operator board anew (DESIGN A4). One look at all agents' rows tells whose facts may have changed: a run was given or taken, apps
 * were reported, a pause began. Only those are read; what follows from time, waves and windows is derived again for all. Any number of these
 * may run at once or be cut short: one of them is the next board.
 */
export async function refreshBoard(services: EngineServices, agents?: readonly Presence[]): Promise<void> {
  const [before, touches, target] = await Promise.all([
    services.board.read(),
    services.board.touched(TOUCHES),
    readOperatorTarget(services),
  ]);
  const all = agents ?? (await everyAgent(services));
  const marks = await marksOf(services, target, before, all);
  const signs = new Map(all.flatMap((agent) => (isOperator(agent) ? [[agent.k8s_cluster ?? '', signOf(services, agent)] as const] : [])));
  const wanted = outdated(services, { before, marks, signs, all, touched: new Set(touches.map(({ cluster }) => cluster)) });
  const present = agentRows(all);
  const { facts, hidden } = await merged({ services, target, before, wanted, signs, agents: present });
  const rows = await rowsOf(services, target, facts, present);
  const entries = facts.map((one, at) => {
    const row = rows[at];
    if (row === undefined) throw new Error(`no row for cluster ${one.cluster_id}`);
    return entryOf(one, row, signs.get(one.cluster_id) ?? '');
  });
  if (await services.board.publish(before, { at: services.clock.now(), marks, entries: entries.sort(byPlace), hidden }))
    await services.board.settle(touches);
}

/** A cluster's own row: it is there from the cluster's beginning to its end. */
const isOperator = (agent: Presence): boolean => agent.kind === 'operator' && agent.k8s_cluster !== null && !agent.gone;

/** Another one means that something about the cluster was written. */
function signOf({ digest }: Pick<EngineServices, 'digest'>, agent: Presence): string {
  const inbox = Object.entries(agent.inbox).map(([run, entry]) => `${run} ${encodeInboxRun(entry)}`);
  return digest(JSON.stringify([agent.apps, agent.health, agent.paused_until, agent.last_seen !== null, inbox.sort()])).slice(0, 8);
}

async function marksOf(
  services: EngineServices,
  target: OperatorTarget,
  before: Board | null,
  agents: readonly Presence[],
): Promise<BoardMarks> {
  const running = target.config === null ? [] : await services.engine.runningWavesOfConfig(target.config.id);
  const ids = new Set([...running, ...(before?.entries ?? []).flatMap(({ facts }) => facts.item?.rollout ?? [])]);
  const waves = await Promise.all([...ids].map(async (id) => [id, await waveMark(services, id)] as const));
  const helpers = agents.filter((agent) => agent.kind === 'agent').map((agent) => [agent.id, signOf(services, agent)] as const);
  return { desired_version: target.desired_version, waves: Object.fromEntries(waves), helpers: Object.fromEntries(helpers) };
}

/** Items that start and end show in their agents' rows; that others join or are skipped shows only here. */
async function waveMark({ engine }: EngineServices, id: string): Promise<string> {
  const wave = (await engine.wave(id))?.wave;
  return wave === undefined ? '' : [wave.status, wave.counters.total, wave.counters.skipped].join(' ');
}

interface Comparison {
  readonly before: Board | null;
  readonly marks: BoardMarks;
  readonly signs: ReadonlyMap<string, string>;
  readonly all: readonly Presence[];
  readonly touched: ReadonlySet<string>;
}

/** The clusters whose facts must be read. */
function outdated(services: EngineServices, { before, marks, signs, all, touched }: Comparison): Set<string> {
  if (before === null || touched.has(EVERY_CLUSTER) || joined(before, marks)) return new Set([...signs.keys(), ...touched]);
  const round = Math.floor(services.clock.now() / MINUTE) % ROUND;
  const known = new Map(before.entries.map((entry) => [entry.facts.cluster_id, entry]));
  const hidden = new Set(before.hidden);
  const helped = helpedPlaces(before, marks, all);
  const isOutdated = (cluster: string, sign: string): boolean => {
    const entry = known.get(cluster);
    if (touched.has(cluster) || Number.parseInt(cluster.slice(-6), 16) % ROUND === round) return true;
    if (entry === undefined) return !hidden.has(cluster);
    const { item, workspace_id } = entry.facts;
    const moved = item !== null && before.marks.waves[item.rollout] !== marks.waves[item.rollout];
    return entry.sign !== sign || moved || helped.has(cluster) || helped.has(workspace_id);
  };
  return new Set([...touched, ...[...signs].flatMap(([cluster, sign]) => (isOutdated(cluster, sign) ? [cluster] : []))]);
}

/** Items joined some wave: whose they are, nothing else tells. A target that changed is another wave's, but each may render its own. */
function joined(before: Board, { waves, desired_version }: BoardMarks): boolean {
  if (before.marks.desired_version !== desired_version) return true;
  const total = (mark: string | undefined): number => Number(mark?.split(' ')[1] ?? 0);
  return Object.entries(waves).some(([wave, mark]) => total(mark) > total(before.marks.waves[wave]));
}

/** Where an agent serves that has no cluster of its own, or is not its operator: its inbox speaks for clusters without one. */
function helpedPlaces(before: Board, { helpers }: BoardMarks, all: readonly Presence[]): Set<string> {
  const changed = all.filter((agent) => agent.kind === 'agent' && before.marks.helpers[agent.id] !== helpers[agent.id]);
  return new Set(changed.map((agent) => agent.k8s_cluster ?? agent.workspace));
}

interface Merged {
  readonly facts: readonly ClusterFacts[];
  readonly hidden: readonly string[];
}

interface Renewal {
  readonly services: EngineServices;
  readonly target: OperatorTarget;
  readonly before: Board | null;
  readonly wanted: ReadonlySet<string>;
  readonly signs: ReadonlyMap<string, string>;
  readonly agents: AgentRows;
}

async function merged({ services, target, before, wanted, signs, agents }: Renewal): Promise<Merged> {
  const isKept = (cluster: string): boolean => signs.has(cluster) && !wanted.has(cluster);
  const facts = (before?.entries ?? []).flatMap((entry) => (isKept(entry.facts.cluster_id) ? [entry.facts] : []));
  const hidden = (before?.hidden ?? []).filter(isKept);
  const ids = [...wanted];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const read = await readFacts(services, target, ids.slice(at, at + AT_ONCE), agents);
    facts.push(...read.facts);
    hidden.push(...read.without.filter((cluster) => signs.has(cluster)));
  }
  return { facts, hidden };
}

const place = ({ facts }: Entry): string => [facts.organization, facts.workspace, facts.cluster].join('\u0000');
export const byPlace = (a: Entry, b: Entry): number => (place(a) < place(b) ? -1 : 1);

/** The cluster's own row in `agents`, for a look at a few clusters. */
export const ownSign = (services: EngineServices, agents: AgentRows, cluster: string): string => {
  const own = agents.presences.get(derivedId.operatorAgent(services.ids, cluster));
  return own === undefined ? '' : signOf(services, own);
};
