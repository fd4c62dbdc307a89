import { isDeepStrictEqual } from 'node:util';
import type { ObjectType, ObjectTypes } from '../../app/ports.ts';
import {
  APP_DEFAULTS,
  BLOCK_DEFAULTS,
  CLUSTER_DEFAULTS,
  CONFIG_DEFAULTS,
  ITEM_DEFAULTS,
  MANAGED_DEFAULTS,
  OWNER_DEFAULTS,
} from '../../domain/shared/defaults.ts';
import type { ActionRun, Item } from '../../domain/shared/rollout.ts';
import type { Row } from './row.ts';

const MANAGED = MANAGED_DEFAULTS;

/** A row keeps only what differs from these values, so that a row stays under 1 KB and new fields need no migration. */
const DEFAULTS: { readonly [T in ObjectType]: Partial<ObjectTypes[T]> } = {
  organization: { ...MANAGED, ...OWNER_DEFAULTS },
  workspace: { ...MANAGED, ...OWNER_DEFAULTS },
  k8s_cluster: { ...MANAGED, ...CLUSTER_DEFAULTS },
  block: { ...MANAGED, ...BLOCK_DEFAULTS },
  k8s_app: { ...MANAGED, ...APP_DEFAULTS },
  maintenance: { ...MANAGED, organization: null, k8s_clusters: [], workspaces: [], draft: false },
  maintenance_window: {
    ...MANAGED,
    organization: null,
    workspace: null,
    freezes: [],
    description: null,
    note: null,
    lead_time_days: null,
    notice_required: false,
  },
  downtime: { ...MANAGED, kind: 'generic', ended_at: null },
  block_rollout_config: { ...MANAGED, ...CONFIG_DEFAULTS },
  access_key: {
    ...MANAGED,
    access: 'read_write',
    organization: null,
    workspace: null,
    k8s_cluster: null,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
  },
  audit_event: { ...MANAGED, organization: null, before: null, after: null },
};

/** Items as they are stored. */
export const STORED_ITEM: Partial<Item> = { ...MANAGED, ...ITEM_DEFAULTS };

export const STORED_RUN: Partial<ActionRun> = {
  ...MANAGED,
  k8s_cluster: null,
  rollout: null,
  rollout_config: null,
  item: null,
  phase: 'queued',
  status_reason: null,
  exit_code: null,
  cancel_requested: false,
  rendered_target_version: null,
  config_hash: null,
  version_at_dispatch: null,
  verify: false,
  soak_seconds: 0,
  started_at: null,
  finished_at: null,
};

/** Items and runs are written several times in their life, and each KB costs: their longer names are stored short. */
export const SHORT_NAMES: Readonly<Record<string, string>> = {
  block: 'b',
  block_name: 'bn',
  organization: 'o',
  workspace: 'w',
  k8s_cluster: 'c',
  rollout: 'r',
  rollout_config: 'rc',
  action_name: 'an',
  action: 'a',
  source_user: 'su',
  rendered_target_version: 'tv',
  config_hash: 'ch',
  template_revision: 'tr',
  retry_count: 'rn',
  retry_after: 'ra',
  action_run: 'ar',
  attempts: 'at',
  dispatched_at: 'da',
  completed_at: 'ca',
  enqueued_at: 'ea',
  created_at: 'cr',
  updated_at: 'up',
  started_at: 'sa',
  finished_at: 'fa',
  override_freeze: 'of',
  window_bypassed: 'wb',
  allow_downgrade: 'ad',
  in_maintenance: 'im',
  criticality: 'cy',
  calendar: 'cl',
  parked_until: 'pu',
  park_reason: 'pr',
  absent_since: 'as',
  agent: 'ag',
  attempt: 'n',
  status_reason: 'sr',
  exit_code: 'ec',
  cancel_requested: 'cq',
  version_at_dispatch: 'vd',
  soak_seconds: 'ss',
  deadline: 'dl',
  claim_by: 'cb',
};
type Names = ReadonlyMap<string, string>;
const SHORT: Names = new Map(Object.entries(SHORT_NAMES));
const LONG: Names = new Map(Object.entries(SHORT_NAMES).map(([long, short]) => [short, long]));
const AS_THEY_ARE: Names = new Map();

const TABLE_ATTRIBUTES = new Set(['pk', 'sk', 'gsi1pk', 'gsi1sk', 'gsi2pk', 'gsi2sk', 'entity', 'schema_version', 'expires_at']);

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && !(value instanceof Set) && Object.keys(value).length === 0);

const same = (a: unknown, b: unknown): boolean => a === b || (isEmpty(b) ? isEmpty(a) : isDeepStrictEqual(a, b));

/** `expires_at` is the attribute by which the table deletes rows; an object's own end (a key's) must not meet it. */
const OWN_END = 'ends_at';

/** Leaves out what equals its default. The id is in the key. */
export const pack = (value: object, defaults: object): Record<string, unknown> => packed(value, defaults, AS_THEY_ARE);

/** The same, under short names. */
export const packShort = (value: object, defaults: object): Record<string, unknown> => packed(value, defaults, SHORT);

export const unpack = <T>(row: Row, defaults: Partial<T>): T => unpacked(row, defaults, AS_THEY_ARE);

export const unpackShort = <T>(row: Row, defaults: Partial<T>): T => unpacked(row, defaults, LONG);

// Every row that is read or written goes through these two: loops instead of lists of entries are a third of their time.
function packed(value: object, defaults: object, names: Names): Record<string, unknown> {
  const known = defaults as Record<string, unknown>;
  const row: Record<string, unknown> = {};
  for (const [name, v] of Object.entries(value)) {
    if (name === 'id' || (name in known ? same(v, known[name]) : v === null || v === undefined)) continue;
    row[name === 'expires_at' ? OWN_END : (names.get(name) ?? name)] = v;
  }
  return row;
}

function unpacked<T>(row: Row, defaults: Partial<T>, names: Names): T {
  const value: Record<string, unknown> = { id: row.pk.slice(row.pk.indexOf('#') + 1), ...defaults };
  for (const name of Object.keys(row)) {
    if (TABLE_ATTRIBUTES.has(name)) continue;
    value[name === OWN_END ? 'expires_at' : (names.get(name) ?? name)] = row[name];
  }
  return value as T;
}

export const packObject = <T extends ObjectType>(type: T, value: ObjectTypes[T]): Record<string, unknown> => pack(value, DEFAULTS[type]);
export const unpackObject = <T extends ObjectType>(type: T, row: Row): ObjectTypes[T] => unpack<ObjectTypes[T]>(row, DEFAULTS[type]);

/** Where an object is listed (gsi1). */
export function listingOf<T extends ObjectType>(type: T, value: ObjectTypes[T]): { organization: string | null; path: string[] } {
  const v = value as { organization?: string | null; workspace?: string | null; k8s_cluster?: string | null };
  switch (type) {
    case 'k8s_cluster':
      return { organization: v.organization ?? null, path: [v.workspace ?? '-'] };
    case 'block':
    case 'k8s_app':
      return { organization: v.organization ?? null, path: [v.workspace ?? '-', v.k8s_cluster ?? '-'] };
    case 'workspace':
    case 'maintenance':
    case 'maintenance_window':
    case 'downtime':
    case 'access_key':
    case 'audit_event':
      return { organization: v.organization ?? null, path: [] };
    default:
      return { organization: null, path: [] };
  }
}
