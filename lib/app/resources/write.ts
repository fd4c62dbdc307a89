import type { Json, Managed } from '../../domain/shared/fleet.ts';
import { AppError, conflict, invalid, notFound } from '../errors.ts';
import { isSame } from '../import/diff.ts';
import { newManaged } from '../managed.ts';
import type { Also, AuditEvent, Create, Demand, ObjectType, ObjectTypes } from '../ports.ts';
import { urlOf } from '../urls.ts';
import type { ResourceServices } from './services.ts';

/** One place through which people's changes go: read, change, write with its audit and its demand in one transaction (SPEC §9, §2.9). */

/** The part of the fleet that a change asks reconciliation to look at; null = nothing. All empty = a config's whole scope. */
export interface Touches {
  readonly rollout_config?: string;
  readonly clusters?: readonly string[];
  readonly workspaces?: readonly string[];
  readonly organizations?: readonly string[];
  readonly allow_downgrade?: boolean;
}

const TRIES = 4;

const WORDS: Readonly<Record<ObjectType, string>> = {
  organization: 'Organization',
  workspace: 'Workspace',
  k8s_cluster: 'Cluster',
  block: 'Block',
  k8s_app: 'App',
  maintenance: 'Maintenance',
  maintenance_window: 'Maintenance window',
  downtime: 'Downtime',
  block_rollout_config: 'Rollout config',
  access_key: 'Key',
  audit_event: 'Audit event',
};

export async function find<T extends ObjectType>(services: ResourceServices, type: T, id: string): Promise<ObjectTypes[T]> {
  const value = await services.objects.get(type, id, true);
  if (value === null) throw notFound(`${WORDS[type]} ${id}`);
  return value;
}

/** An object that a request names in a field: it must exist. */
export async function findNamed<T extends ObjectType>(
  services: ResourceServices,
  type: T,
  id: string,
  attr: string,
): Promise<ObjectTypes[T]> {
  const value = await services.objects.get(type, id, true);
  if (value === null) throw invalid(attr, `${WORDS[type]} ${id} does not exist.`, 'does_not_exist');
  return value;
}

/** A parent under which something is made: it must exist and not be archived. */
export async function findParent<T extends ObjectType>(
  services: ResourceServices,
  type: T,
  id: string,
  attr: string,
): Promise<ObjectTypes[T]> {
  const value = await findNamed(services, type, id, attr);
  if (value.archived) throw invalid(attr, `${WORDS[type]} "${value.name}" is archived; bring it back first.`);
  return value;
}

/** Names identify (SPEC §1); what people see is the display name. */
export function refuseRename(before: Managed, name: string | undefined): void {
  if (name === undefined || name === before.name) return;
  throw invalid('name', `The name cannot be changed (it is "${before.name}"); set display_name instead.`);
}

export async function create<T extends ObjectType>(
  services: ResourceServices,
  type: T,
  value: Create<ObjectTypes[T]>,
  actor: string,
  touches: Touches | null = null,
): Promise<ObjectTypes[T]> {
  const demand = touches === null ? null : demandOf(services, touches, actor);
  const also = [auditOf(services, { type, action: 'create', actor, before: null, after: value }), ...demandAlso(demand)];
  const created = await services.objects.create(type, value, also).catch((error: unknown) => explainExisting(services, type, value, error));
  await follow(services, { type, id: created.id, fields: Object.keys(value) }, demand);
  return created;
}

/** The name is taken; by something archived, perhaps, which nobody sees in a list. */
async function explainExisting<T extends ObjectType>(
  services: ResourceServices,
  type: T,
  value: { id: string; name: string },
  error: unknown,
): Promise<never> {
  if (!(error instanceof AppError) || error.kind !== 'conflict') throw error;
  const existing = await services.objects.get(type, value.id, true);
  const archived = existing?.archived === true ? ' It is archived: POST to its archive/ without a body brings it back.' : '';
  const url = type === 'access_key' || type === 'audit_event' ? '' : urlOf(type, value.id);
  throw conflict(`${WORDS[type]} "${value.name}" already exists here.${archived}`, { id: value.id, url });
}

export interface Edit<T extends ObjectType> {
  readonly actor: string;
  readonly action?: string;
  /** Looks at the stored object and says what it shall be; a refusal is thrown. */
  readonly change: (before: ObjectTypes[T]) => ObjectTypes[T] | Promise<ObjectTypes[T]>;
  readonly touches?: (before: ObjectTypes[T], after: ObjectTypes[T]) => Touches | null;
}

/** Changes an object. Somebody else's change in between is read and merged; nothing is written when nothing differs. */
export async function edit<T extends ObjectType>(
  services: ResourceServices,
  type: T,
  id: string,
  request: Edit<T>,
): Promise<ObjectTypes[T]> {
  for (let attempt = 1; ; attempt++) {
    const before = await find(services, type, id);
    const after = keepEqual(before, await request.change(before));
    if (isSame(before, after)) return before;
    try {
      return await write(services, type, before, after, request);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'stale' || attempt >= TRIES) throw error;
    }
  }
}

/** SDKs send whole objects back: a value that is equal stays the stored one, so that `===` tells what differs. */
function keepEqual<T extends object>(before: T, after: T): T {
  const old = fieldsOf(before);
  const equal = Object.entries(after).filter(([field, value]) => isSame({ v: old[field] ?? null }, { v: value ?? null }));
  return { ...after, ...Object.fromEntries(equal.map(([field]) => [field, old[field]])) };
}

async function write<T extends ObjectType>(
  services: ResourceServices,
  type: T,
  before: ObjectTypes[T],
  after: ObjectTypes[T],
  request: Edit<T>,
): Promise<ObjectTypes[T]> {
  const touches = request.touches?.(before, after) ?? null;
  const demand = touches === null ? null : demandOf(services, touches, request.actor);
  const audit = auditOf(services, { type, action: request.action ?? 'update', actor: request.actor, before, after });
  const written = await services.objects.replace(type, before, after, [audit, ...demandAlso(demand)]);
  await follow(services, { type, id: written.id, fields: changedFields(before, after) }, demand);
  return written;
}

export const demandAlso = (demand: Demand | null): Also[] => (demand === null ? [] : [{ kind: 'demand', demand }]);

export function demandOf(services: Pick<ResourceServices, 'clock' | 'ids'>, touches: Touches, actor: string): Demand {
  return {
    id: services.ids.fresh(),
    kind: 'reconcile',
    rollout_config: touches.rollout_config ?? null,
    clusters: touches.clusters ?? [],
    workspaces: touches.workspaces ?? [],
    organizations: touches.organizations ?? [],
    scheduled_for: null,
    created_at: services.clock.now(),
    allow_downgrade: touches.allow_downgrade ?? false,
    requested_by: actor,
  };
}

/** What a committed change leads to. It is kept in the table; a failure here only means that the tick does it. */
export async function follow(
  services: ResourceServices,
  change: { type: ObjectType | 'settings'; id: string; fields: readonly string[] },
  ...demands: readonly (Demand | null)[]
): Promise<void> {
  const steps = [services.changes.changed(change), ...demands.flatMap((demand) => (demand === null ? [] : [services.demands.run(demand)]))];
  for (const result of await Promise.allSettled(steps)) {
    if (result.status === 'rejected')
      services.log.warn('follow_up_left_to_the_tick', { type: change.type, id: change.id, error: String(result.reason) });
  }
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: object | null): Fields => (value ?? {}) as Fields;

/** Not news, or not for everybody's eyes: a block's config may hold credentials that were never extracted. */
const UNTOLD = new Set(['version', 'updated_at', 'secret_hash', 'schedule_since']);
const HIDDEN = new Set(['config']);

function changedFields(before: object | null, after: object): string[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return Object.keys({ ...old, ...now }).filter(
    (field) => !UNTOLD.has(field) && !isSame({ v: old[field] ?? null }, { v: now[field] ?? null }),
  );
}

interface Audited {
  readonly type: ObjectType;
  readonly action: string;
  readonly actor: string;
  readonly before: object | null;
  readonly after: object & { readonly id: string };
}

/** SPEC §9: who, what, before, after, of the fields that differ; never a secret. */
function auditOf(services: ResourceServices, { type, action, actor, before, after }: Audited): Also {
  const fields = changedFields(before, after);
  const organization = type === 'organization' ? after.id : (fieldsOf(after)['organization'] ?? null);
  return {
    kind: 'audit',
    event: auditEvent(services, {
      actor,
      action,
      organization: typeof organization === 'string' ? organization : null,
      object_type: type,
      object_id: after.id,
      before: before === null ? null : picked(before, fields),
      after: picked(after, fields),
    }),
  };
}

const picked = (value: object, fields: readonly string[]): Json =>
  Object.fromEntries(fields.map((field) => [field, HIDDEN.has(field) ? '(not shown)' : ((fieldsOf(value)[field] ?? null) as Json)]));

type AuditFacts = Pick<AuditEvent, 'actor' | 'action' | 'organization' | 'object_type' | 'object_id' | 'before' | 'after'>;

export function auditEvent(services: Pick<ResourceServices, 'clock' | 'ids'>, facts: AuditFacts): Create<AuditEvent> {
  const now = services.clock.now();
  return {
    ...newManaged({ id: services.ids.fresh(), name: `${facts.action} ${facts.object_type}`, now }),
    at: now,
    ...facts,
  };
}
