import { APP_DEFAULTS, BLOCK_DEFAULTS, CLUSTER_DEFAULTS, OWNER_DEFAULTS } from '../../domain/shared/defaults.ts';
import type {
  Block,
  Json,
  JsonObject,
  K8sApp,
  K8sCluster,
  Labels,
  Managed,
  ManagedBy,
  Organization,
  WindowObject,
  Workspace,
} from '../../domain/shared/fleet.ts';
import type { SystemSettings } from '../../domain/shared/rollout.ts';
import { parseWindow } from '../../domain/windows/parse-window.ts';
import { type Birth, newManaged } from '../managed.ts';
import type { Difference } from './diff.ts';

/** How a difference in the file becomes a difference of an object: one table of fields and defaults per kind. */

type FieldOf<T> = Exclude<keyof T, keyof Managed> | 'display_name';
type Defaults<T> = Partial<Record<FieldOf<T>, Json>>;

const ORGANIZATION: Defaults<Organization> = { display_name: null, ...OWNER_DEFAULTS };
const WORKSPACE: Defaults<Workspace> = { display_name: null, ...OWNER_DEFAULTS };
const CLUSTER: Defaults<K8sCluster> = { display_name: null, active: CLUSTER_DEFAULTS.active };
const { from_block, app, block_version, config, created_by_component, managed_by, auto_rollout, kind, type, flavor, actions } =
  BLOCK_DEFAULTS;
const BLOCK: Defaults<Block> = {
  ...{ display_name: null, from_block, app, block_version, config, created_by_component },
  ...{ managed_by, auto_rollout, kind, type, flavor, actions },
};

/** The object with the difference applied; fields that the file does not speak of stay as they are. */
function applied<T extends Managed>(before: T, { set, cleared }: Difference, defaults: Defaults<T>): T {
  const known: Readonly<Record<string, Json | undefined>> = defaults;
  const gone = cleared.filter((field) => known[field] !== undefined).map((field) => [field, known[field]]);
  const given = Object.entries(set).filter(([field]) => known[field] !== undefined);
  return {
    ...before,
    ...Object.fromEntries([...gone, ...given]),
    labels: keyed(before.labels, 'labels/', set, cleared),
    annotations: keyed(before.annotations, 'annotations/', set, cleared),
  };
}

function keyed(before: Labels, prefix: string, set: Readonly<Record<string, Json>>, cleared: readonly string[]): Labels {
  const gone = new Set(cleared.filter((field) => field.startsWith(prefix)).map((field) => field.slice(prefix.length)));
  const given = Object.entries(set).filter(([field]) => field.startsWith(prefix));
  const kept = Object.entries(before).filter(([key]) => !gone.has(key));
  return Object.fromEntries([...kept, ...given.map(([field, value]) => [field.slice(prefix.length), String(value)] as const)]);
}

export const newWindow = (birth: Birth, owner: Pick<WindowObject, 'organization' | 'workspace'>): WindowObject => ({
  ...newManaged(birth),
  ...owner,
  ...{ time_zone: 'UTC', time_slots: [], freezes: [] },
  ...{ description: null, note: null, lead_time_days: null, notice_required: false },
});

/** The file has been checked. */
export function windowWith(before: WindowObject, window: Json): WindowObject {
  const parsed = parseWindow(window);
  if (!parsed.ok) throw new Error('a maintenance window got past the check');
  return { ...before, ...parsed.window };
}

export const managedWith = <T extends Managed>(before: T, diff: Difference): T =>
  applied<Managed>(before, diff, { display_name: null }) as T;
export const organizationWith = (before: Organization, diff: Difference): Organization => applied(before, diff, ORGANIZATION);
export const workspaceWith = (before: Workspace, diff: Difference): Workspace => applied(before, diff, WORKSPACE);
export const clusterWith = (before: K8sCluster, diff: Difference): K8sCluster => applied(before, diff, CLUSTER);

/** `managed_by` may also be written as the label `polycrate_managed_by`: `kind` or `kind/id` (SPEC §1). */
const MANAGED_BY_LABEL = 'polycrate_managed_by';

export function blockWith(before: Block, diff: Difference): Block {
  const after = applied(before, diff, BLOCK);
  const named = 'managed_by' in diff.set || diff.cleared.includes('managed_by');
  const label = diff.set[`labels/${MANAGED_BY_LABEL}`];
  if (named || typeof label !== 'string') return after;
  return { ...after, managed_by: managedByOf(label) };
}

function managedByOf(label: string): ManagedBy {
  const slash = label.indexOf('/');
  return slash < 0 ? { kind: label, id: null } : { kind: label.slice(0, slash), id: label.slice(slash + 1) };
}

export interface Parents {
  readonly organization: string;
  readonly workspace: string;
  readonly k8s_cluster: string | null;
}

export const newOrganization = (birth: Birth): Organization => ({
  ...newManaged(birth),
  ...OWNER_DEFAULTS,
});

export const newWorkspace = (birth: Birth, organization: string): Workspace => ({ ...newOrganization(birth), organization });

export const newCluster = (birth: Birth, { organization, workspace }: Parents): K8sCluster => ({
  ...newManaged(birth),
  ...CLUSTER_DEFAULTS,
  organization,
  workspace,
});

export const newApp = (birth: Birth, parents: Parents & { k8s_cluster: string }, installed_version: string | null): K8sApp => ({
  ...newManaged(birth),
  ...APP_DEFAULTS,
  ...parents,
  installed_version,
});

export const newBlock = (birth: Birth, parents: Parents, installed_version: string | null): Block => ({
  ...newManaged(birth),
  ...BLOCK_DEFAULTS,
  ...parents,
  installed_version,
});

type Numbers = {
  readonly [K in keyof SystemSettings]: SystemSettings[K] extends number ? K : never;
}[keyof SystemSettings];

/** SPEC §1 "SystemConfig": what a key has when the file no longer names it. */
const NUMBER_DEFAULTS: Readonly<Record<Exclude<Numbers, 'revision'>, number>> = {
  OPERATOR_ROLLOUT_PERCENTAGE: 100,
  AGENT_REPORT_INTERVAL_SECONDS: 60,
  AGENT_WARNING_AFTER_SECONDS: 180,
  AGENT_CRITICAL_AFTER_SECONDS: 300,
  RESYNC_MINUTES: 60,
  RETENTION_DAYS: 90,
  AUDIT_RETENTION_DAYS: 400,
};

export function settingsWith(before: SystemSettings, { set, cleared }: Difference): SystemSettings {
  const numbers: Readonly<Record<string, number>> = NUMBER_DEFAULTS;
  const known = (field: string): boolean =>
    Object.hasOwn(numbers, field) || field === 'OPERATOR_BLOCK_VERSION' || field === 'ROLLOUTS_PAUSED';
  const gone = cleared.filter(known).map((field) => [field, numbers[field] ?? null]);
  const given = Object.entries(set).filter(([field]) => known(field));
  const freeGone = new Set(cleared.filter((field) => !known(field)));
  const free: JsonObject = Object.fromEntries([
    ...Object.entries(before.free).filter(([field]) => !freeGone.has(field)),
    ...Object.entries(set).filter(([field]) => !known(field)),
  ]);
  return {
    ...before,
    ...Object.fromEntries([...gone, ...given.map(([field, value]) => [field, Object.hasOwn(numbers, field) ? Number(value) : value])]),
    free,
  };
}
