import { unavailable } from '../errors.ts';
import type { ObjectTypes } from '../ports.ts';
import { type Context, childKey, type Decision, decide, type Existing, OWN, type StoredKind, windowId } from './decide.ts';
import { isSame } from './diff.ts';
import type { ImportKind, ImportServices, ImportState, ImportUnit, Outcome, UnitChange } from './ports.ts';

/** Somebody else changes the same things at the same time: so often is a unit decided again before the import gives up for now. */
const MAX_REFUSALS = 10;

export interface Applied {
  readonly outcomes: readonly { readonly kind: ImportKind; readonly outcome: Outcome }[];
  readonly clusters: readonly string[];
  readonly workspaces: readonly string[];
  readonly organizations: readonly string[];
  /** A setting or a config changed. */
  readonly everything: boolean;
}

/** Applies one page; doing it again, also after a crash in the middle, ends the same and counts the same. */
export async function applyPage(services: ImportServices, context: Context, actor: string, units: readonly ImportUnit[]): Promise<Applied> {
  const decided = new Map<ImportUnit, Decision>();
  let open = units;
  let refusals = 0;
  while (open.length > 0) {
    const round = await decideAll(services, context, open);
    for (const { gone } of round.values()) for (const { type, id } of gone) await services.archive(type, id, actor);
    const writing = [...round].flatMap(([unit, { change }]) => (change === null ? [] : [{ unit, change }]));
    const answers = await services.imports.apply(writing.map(({ change }) => change));
    const refused = new Set(writing.filter((_, index) => answers[index] !== true).map(({ unit }) => unit));
    if (refused.size > 0) refusals += 1;
    if (refusals > MAX_REFUSALS)
      throw unavailable('What the import writes is being changed by others all the time; it goes on by itself in a moment.');
    for (const { unit, change } of writing) if (!refused.has(unit)) await tellChanges(services, change);
    open = [...round].filter(([unit, { more }]) => more || refused.has(unit)).map(([unit]) => unit);
    for (const [unit, decision] of round) decided.set(unit, decision);
  }
  return summed(decided);
}

async function tellChanges(services: ImportServices, { objects, settings }: UnitChange): Promise<void> {
  for (const { type, before, after } of objects) {
    // Nothing waits for what is new, but the scheduler has to learn of it.
    if (before !== null || type === 'block_rollout_config')
      await services.changed({ type, id: after.id, fields: changedFields(before ?? {}, after) });
  }
  if (settings !== null)
    await services.changed({ type: 'settings', id: 'settings', fields: changedFields(settings.before, settings.after) });
}

function changedFields(before: object, after: object): string[] {
  const old = new Map(Object.entries(before));
  return Object.entries(after).flatMap(([field, value]) =>
    isSame({ value: old.get(field) ?? null }, { value: value ?? null }) ? [] : [field],
  );
}

async function decideAll(services: ImportServices, context: Context, units: readonly ImportUnit[]): Promise<Map<ImportUnit, Decision>> {
  const states = await services.imports.states(units.map((unit) => unit.id));
  const existing = await existingOf(services, context, units, states);
  return new Map(units.map((unit) => [unit, decide(unit, existing(unit), context)]));
}

async function existingOf(
  services: ImportServices,
  context: Context,
  units: readonly ImportUnit[],
  states: ReadonlyMap<string, ImportState>,
) {
  const wanted = new Map<StoredKind, Set<string>>();
  const want = (type: StoredKind, id: string) => wanted.set(type, (wanted.get(type) ?? new Set()).add(id));
  for (const unit of units) {
    if (unit.kind !== 'system_config') want(unit.kind, unit.id);
    if ('maintenance_window' in unit.fields) want('maintenance_window', windowId(context.ids, unit.id));
    for (const child of unit.children) want(child.kind, child.id);
  }
  const found = new Map<string, ObjectTypes[StoredKind]>();
  const reads = [...wanted].map(async ([type, ids]) => {
    for (const [id, value] of await services.objects.getMany(type, [...ids])) found.set(id, value);
  });
  const [settings] = await Promise.all([services.settings.read(), ...reads]);
  return (unit: ImportUnit): Existing => ({
    state: states.get(unit.id) ?? null,
    object: <T extends StoredKind>(_type: T, id: string) => (found.get(id) as ObjectTypes[T] | undefined) ?? null,
    settings,
  });
}

function summed(decided: ReadonlyMap<ImportUnit, Decision>): Applied {
  const outcomes: { kind: ImportKind; outcome: Outcome }[] = [];
  const touched = { clusters: new Set<string>(), workspaces: new Set<string>(), organizations: new Set<string>() };
  let everything = false;
  for (const [unit, decision] of decided) {
    for (const [key, outcome] of decision.outcomes) outcomes.push({ kind: kindOf(unit, key), outcome });
    const changed = [...decision.outcomes].some(([, outcome]) => outcome !== 'unchanged');
    if (!changed) continue;
    if (unit.kind === 'k8s_cluster') touched.clusters.add(unit.id);
    else if (unit.kind === 'workspace') touched.workspaces.add(unit.id);
    else if (unit.kind === 'organization') touched.organizations.add(unit.id);
    else everything = true;
  }
  return {
    outcomes,
    everything,
    clusters: [...touched.clusters],
    workspaces: [...touched.workspaces],
    organizations: [...touched.organizations],
  };
}

function kindOf(unit: ImportUnit, key: string): ImportKind {
  if (key === OWN) return unit.kind;
  return key.startsWith(childKey({ kind: 'block', id: '' })) ? 'block' : 'k8s_app';
}
