import type { FleetApp, FleetBlock, FleetCluster, FleetFile, FleetOrganization, FleetWorkspace } from '../../contracts/fleet.ts';
import type { Json } from '../../domain/shared/fleet.ts';
import { parseWindow } from '../../domain/windows/parse-window.ts';
import { derivedId } from '../derived-ids.ts';
import { operatorConfigId, systemConfigId } from '../engine/configs.ts';
import type { Ids } from '../ports.ts';
import { type Fields, type ImportChild, type ImportUnit, MAX_PAGE_BYTES, MAX_PAGE_RECORDS } from './ports.ts';
import { targetId, withTargetIds } from './targets.ts';

/** The unit of the platform settings; there is one. */
export const SETTINGS_UNIT = 'system_config';
const NO_PARENT = '00000000-0000-7000-8000-000000000000';

/** The seeded ones are named as everybody sees them: `operator`, and `defaults` for the limits of all others. */
export function configId(ids: Ids, name: string): string {
  if (name === 'defaults') return systemConfigId(ids);
  return name === 'operator' ? operatorConfigId(ids) : ids.child(NO_PARENT, 'block_rollout_config', name);
}

/**
 * The file as units, parents before children; the settings and configs come last, so that nothing starts before the whole fleet is known.
 * Names identify (SPEC §13): every id follows from the names.
 */
export function unitsOf(fleet: FleetFile, ids: Ids): ImportUnit[] {
  const configs = fleet.rollout_configs ?? [];
  return [
    ...(fleet.organizations ?? []).flatMap((organization) => organizationUnits(organization, ids)),
    ...(fleet.system_config === undefined ? [] : [settingsUnit(fleet.system_config)]),
    ...configs.map(({ name, ...fields }) => ({
      ...unit('block_rollout_config', configId(ids, name), name, flat(withTargetIds(fields, (kind, text) => targetId(ids, kind, text)))),
    })),
  ];
}

function unit(kind: ImportUnit['kind'], id: string, name: string, fields: Fields): ImportUnit {
  return { kind, id, name, fields, once: {}, organization: null, workspace: null, children: [], further: false, keep: [] };
}

const withChildren = (own: ImportUnit, children: readonly ImportChild[]): ImportUnit => ({
  ...own,
  children,
  keep: children.map((child) => child.id),
});

function settingsUnit(config: Readonly<Record<string, unknown>>): ImportUnit {
  return unit('system_config', SETTINGS_UNIT, SETTINGS_UNIT, flat(config));
}

function organizationUnits({ name, workspaces, ...fields }: FleetOrganization, ids: Ids): ImportUnit[] {
  const id = derivedId.organization(ids, name);
  const children = (workspaces ?? []).flatMap((workspace) => workspaceUnits(workspace, id, ids));
  return [{ ...unit('organization', id, name, flat(fields)), organization: id }, ...children];
}

function workspaceUnits({ name, clusters, blocks, ...fields }: FleetWorkspace, organization: string, ids: Ids): ImportUnit[] {
  const id = derivedId.workspace(ids, organization, name);
  const own = { ...unit('workspace', id, name, flat(fields)), organization, workspace: id };
  return [
    withChildren(
      own,
      (blocks ?? []).map((block) => blockChild(block, id, ids)),
    ),
    ...(clusters ?? []).map((cluster) => clusterUnit(cluster, organization, id, ids)),
  ];
}

function clusterUnit({ name, apps, blocks, ...fields }: FleetCluster, organization: string, workspace: string, ids: Ids): ImportUnit {
  const id = derivedId.cluster(ids, workspace, name);
  const children = [...(apps ?? []).map((app) => appChild(app, id, ids)), ...(blocks ?? []).map((block) => blockChild(block, id, ids))];
  return withChildren({ ...unit('k8s_cluster', id, name, flat(fields)), organization, workspace }, children);
}

function appChild({ name, installed_version }: FleetApp, cluster: string, ids: Ids): ImportChild {
  return { kind: 'k8s_app', id: derivedId.app(ids, cluster, name), name, fields: {}, once: { installed_version } };
}

function blockChild({ name, installed_version, version, ...fields }: FleetBlock, parent: string, ids: Ids): ImportChild {
  return {
    kind: 'block',
    id: derivedId.block(ids, parent, name),
    name,
    fields: flat({ ...fields, block_version: version }),
    once: { installed_version: installed_version ?? null },
  };
}

/** As it is stored: days in the order of the week, nothing left out. The file has been checked. */
function windowOf(value: unknown): Json {
  const parsed = parseWindow(value);
  if (!parsed.ok) throw new Error('a maintenance window got past the check');
  return {
    ...parsed.window,
    time_slots: parsed.window.time_slots.map((slot) => ({ ...slot })),
    freezes: parsed.window.freezes.map((f) => ({ ...f })),
  };
}

/** Null and left out are the same: the default. Labels and annotations become one field per key. */
function flat(fields: Readonly<Record<string, unknown>>): Fields {
  const result: Record<string, Json> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    if (field === 'labels' || field === 'annotations') {
      for (const [key, text] of Object.entries(value as Record<string, string>)) result[`${field}/${key}`] = text;
    } else result[field] = field === 'maintenance_window' ? windowOf(value) : (value as Json);
  }
  return result;
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** A unit with more children than a page holds is cut into parts. */
function partsOf(whole: ImportUnit): ImportUnit[] {
  if (whole.children.length < MAX_PAGE_RECORDS / 2 && sizeOf(whole) <= MAX_PAGE_BYTES) return [whole];
  const groups = cut(whole.children, () => 1, MAX_PAGE_RECORDS - 1);
  return groups.map((children, index) => ({
    ...whole,
    children,
    further: index > 0,
    keep: index === groups.length - 1 ? whole.keep : null,
  }));
}

/** Pages of at most 100 records and 350 KB. */
export function pagesOf(units: readonly ImportUnit[]): ImportUnit[][] {
  return cut(units.flatMap(partsOf), (next) => 1 + next.children.length, MAX_PAGE_RECORDS);
}

function cut<T>(list: readonly T[], records: (next: T) => number, most: number): T[][] {
  const groups: T[][] = [];
  let [count, bytes] = [0, 0];
  for (const next of list) {
    const size = sizeOf(next);
    const last = groups.at(-1);
    if (last !== undefined && count + records(next) <= most && bytes + size <= MAX_PAGE_BYTES) {
      last.push(next);
      [count, bytes] = [count + records(next), bytes + size];
    } else {
      groups.push([next]);
      [count, bytes] = [records(next), size];
    }
  }
  return groups;
}

export const recordsIn = (units: readonly ImportUnit[]): number =>
  units.reduce((sum, next) => sum + (next.further ? 0 : 1) + next.children.length, 0);
