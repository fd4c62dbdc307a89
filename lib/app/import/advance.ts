import { SECOND } from '../../domain/shared/time.ts';
import { notFound } from '../errors.ts';
import { newManaged } from '../managed.ts';
import type { Also, Demand } from '../ports.ts';
import { type Applied, applyPage } from './apply-page.ts';
import type { Context } from './decide.ts';
import { type Counts, IMPORT_KINDS, type ImportKind, type ImportRow, type ImportServices, type Outcome, type Touched } from './ports.ts';
import { pruneNext } from './prune.ts';

/** A driver that has not moved an import for so long is taken to be gone. */
export const IMPORT_PATIENCE = 20 * SECOND;

/** More changed objects than this are not named one by one in the demand: then the whole fleet is looked at. */
const MAX_NAMED = 1000;

/**
 * Goes on with an import until it is done or `goOn` says stop. Each step is idempotent and ends with one conditional write of the row, so a
 * crash or a second driver costs at most one repeated step.
 */
export async function continueImport(services: ImportServices, id: string, goOn: () => boolean = () => true): Promise<ImportRow> {
  let row = await readRow(services, id);
  while (row.status === 'running' && goOn()) {
    await step(services, row);
    row = await readRow(services, id);
  }
  return row;
}

/** For the tick: goes on with what a driver has left behind. */
export async function resumeImports(services: ImportServices, goOn: () => boolean): Promise<number> {
  const due = await services.imports.due(services.clock.now(), 10);
  for (const id of due) if (goOn()) await continueImport(services, id, goOn);
  return due.length;
}

async function readRow(services: ImportServices, id: string): Promise<ImportRow> {
  const row = await services.imports.get(id);
  if (row === null) throw notFound(`Import ${id}`);
  return row;
}

async function step(services: ImportServices, row: ImportRow): Promise<void> {
  const now = services.clock.now();
  const { ids, configs, imports } = services;
  const context: Context = { import: row.id, prune: row.prune, now, ids, configs };
  if (row.next_page < row.pages) {
    const units = await imports.loadPage(row.id, row.next_page);
    const applied = await applyPage(services, context, row.actor, units);
    const counts = counted(row.counts, applied.outcomes);
    const done = row.done + applied.outcomes.filter(({ outcome }) => outcome !== 'archived').length;
    await imports.put(row, alive({ ...row, next_page: row.next_page + 1, done, counts, touched: touchedBy(row.touched, applied) }, now));
    return;
  }
  const pruned = row.prune ? await pruneNext(services, row) : null;
  if (pruned !== null)
    await imports.put(row, alive({ ...row, pruned_up_to: pruned.up_to, counts: counted(row.counts, pruned.archived) }, now));
  else await finish(services, row);
}

const alive = (row: ImportRow, now: number): ImportRow => ({ ...row, look_again_at: now + IMPORT_PATIENCE });

/** The end, the demand that follows from it (SPEC §2.9) and the audit of it are one write. */
async function finish(services: ImportServices, row: ImportRow): Promise<void> {
  const now = services.clock.now();
  const demand = demandOf(services, row);
  const also: Also[] = [{ kind: 'audit', event: auditOf(services, row) }];
  if (demand !== null) also.push({ kind: 'demand', demand });
  const written = await services.imports.put(row, { ...row, status: 'completed', finished_at: now }, also);
  if (written && demand !== null) await services.demandWritten(demand);
}

function demandOf({ ids, clock }: ImportServices, row: ImportRow): Demand | null {
  const { everything, clusters, workspaces, organizations } = row.touched;
  const named = [...clusters, ...workspaces, ...organizations];
  if (!everything && named.length === 0) return null;
  return {
    id: ids.child(row.id, 'demand', 'import'),
    kind: 'import',
    rollout_config: null,
    clusters,
    workspaces,
    organizations,
    scheduled_for: null,
    created_at: clock.now(),
    allow_downgrade: false,
    requested_by: row.actor,
  };
}

function auditOf({ ids, clock }: ImportServices, row: ImportRow) {
  const at = clock.now();
  return {
    ...newManaged({ id: ids.child(row.id, 'audit_event', 'import'), name: 'import', now: at }),
    organization: null,
    actor: row.actor,
    action: 'import',
    object_type: 'import',
    object_id: row.id,
    before: null,
    after: { prune: row.prune, counts: row.counts },
    at,
  };
}

export const noCounts = (): Counts =>
  Object.fromEntries(IMPORT_KINDS.map((kind) => [kind, { created: 0, updated: 0, unchanged: 0, archived: 0 }])) as Record<
    ImportKind,
    Record<Outcome, number>
  >;

function counted(counts: Counts, outcomes: readonly { readonly kind: ImportKind; readonly outcome: Outcome }[]): Counts {
  const sum = structuredClone(counts) as Record<ImportKind, Record<Outcome, number>>;
  for (const { kind, outcome } of outcomes) sum[kind][outcome] += 1;
  return sum;
}

function touchedBy(before: Touched, applied: Applied): Touched {
  const joined = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];
  const clusters = joined(before.clusters, applied.clusters);
  const workspaces = joined(before.workspaces, applied.workspaces);
  const organizations = joined(before.organizations, applied.organizations);
  const many = clusters.length + workspaces.length + organizations.length > MAX_NAMED;
  if (before.everything || applied.everything || many) return { everything: true, clusters: [], workspaces: [], organizations: [] };
  return { everything: false, clusters, workspaces, organizations };
}
