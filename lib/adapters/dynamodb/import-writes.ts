import type { ObjectWrite, UnitChange } from '../../app/import/ports.ts';
import type { Ids, ObjectType, ObjectTypes } from '../../app/ports.ts';
import type { K8sCluster, Managed } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { clusterSideWrites } from './cluster-rows.ts';
import { eq, missing } from './expression.ts';
import { stateRow } from './import-rows.ts';
import { keys } from './keys.ts';
import { objectRow } from './object-store.ts';
import type { Row } from './row.ts';
import { settingsAction } from './settings-store.ts';
import type { Action } from './transact.ts';

const MAX_ACTIONS = 100;
/** A transaction holds 4 MB; a row is a little larger stored than as JSON. */
const MAX_BYTES = 2_000_000;

/** One change as actions; those on the fleet's row can be added up with others'. */
export interface UnitWrites {
  readonly actions: readonly Action[];
  readonly fleet: readonly FleetDelta[];
  readonly bytes: number;
}

interface FleetDelta {
  readonly clusters: number;
  readonly paused: number;
}

export async function unitWrites(change: UnitChange, now: Instant, ids: Ids): Promise<UnitWrites> {
  const { state, objects, settings } = change;
  const all: Action[] = [
    { kind: 'put', row: await stateRow({ ...state.after, version: next(state.before).version }), condition: unchanged(state.before) },
    ...objects.flatMap((write) => objectActions(write, now, ids)),
    ...(settings === null ? [] : [settingsAction(settings.before, settings.after)]),
  ];
  return {
    actions: all.filter((action) => !isFleet(action)),
    fleet: all
      .filter(isFleet)
      .map(({ update }) => ({ clusters: Number(update.add?.['clusters']), paused: Number(update.add?.['paused']) })),
    bytes: all.reduce((sum, action) => sum + (action.kind === 'put' ? sizeOf(action.row) : 0), 0),
  };
}

const next = (before: { version: number } | null) => ({ version: (before?.version ?? 0) + 1 });
const unchanged = (before: { version: number } | null) => (before === null ? missing('pk') : eq('version', before.version));
const put = (row: Row, before: Managed | null): Action => ({ kind: 'put', row, condition: unchanged(before) });

function stamped<T extends Managed>(before: T | null, after: T, now: Instant): T {
  return { ...after, ...next(before), updated_at: before === null ? after.updated_at : now };
}

function objectActions({ type, before, after }: ObjectWrite, now: Instant, ids: Ids): Action[] {
  const value = stamped(before, after, now);
  const write = put(objectRow(type, value as ObjectTypes[ObjectType]), before);
  return type === 'k8s_cluster' ? [write, ...clusterSideWrites(before as K8sCluster | null, value as K8sCluster, ids)] : [write];
}

type Put = Extract<Action, { kind: 'put' }>;
type UpdateAction = Extract<Action, { kind: 'update' }>;

const isFleet = (action: Action): action is UpdateAction => action.kind === 'update' && action.key.pk === keys.fleet().pk;

function sizeOf({ body, ...row }: Put['row']): number {
  return Buffer.byteLength(JSON.stringify(row)) + (body instanceof Uint8Array ? body.length : 0);
}

/** The fleet's numbers change once in a transaction, by the sum. */
export function transactionOf(group: readonly UnitWrites[]): Action[] {
  const deltas = group.flatMap(({ fleet }) => fleet);
  const clusters = deltas.reduce((sum, delta) => sum + delta.clusters, 0);
  const paused = deltas.reduce((sum, delta) => sum + delta.paused, 0);
  const fleet: Action[] =
    clusters === 0 && paused === 0 ? [] : [{ kind: 'update', key: keys.fleet(), update: { add: { clusters, paused } } }];
  return [...group.flatMap(({ actions }) => actions), ...fleet];
}

/** Neighbours that fit into one transaction: its limits, and no row twice. */
export function grouped(changes: readonly UnitWrites[]): UnitWrites[][] {
  const groups: UnitWrites[][] = [];
  let [actions, bytes, rows] = [0, 0, new Set<string>()];
  for (const change of changes) {
    const mine = change.actions.map(rowOf);
    const last = groups.at(-1);
    const fits = actions + mine.length < MAX_ACTIONS && bytes + change.bytes <= MAX_BYTES && !mine.some((row) => rows.has(row));
    if (last !== undefined && fits) last.push(change);
    else {
      groups.push([change]);
      [actions, bytes, rows] = [0, 0, new Set()];
    }
    actions += mine.length;
    bytes += change.bytes;
    for (const row of mine) rows.add(row);
  }
  return groups;
}

function rowOf(action: Action): string {
  const { pk, sk } = action.kind === 'put' ? action.row : action.key;
  return `${pk}\u0000${sk}`;
}
