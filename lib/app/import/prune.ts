import type { ImportKind, ImportRow, ImportServices, Outcome } from './ports.ts';

type Pruned = { readonly kind: ImportKind; readonly outcome: Outcome };
type Prunable = 'organization' | 'workspace' | 'k8s_cluster' | 'block_rollout_config';

const PAGE = 100;

/** So many organizations are looked at in one step: a crash repeats little, and the file's own ids are not read too often. */
const ORGANIZATIONS_A_STEP = 50;

/**
 * SPEC §13 `--prune`: archives what an import brought and this file no longer has; what people made by other ways is not the file's to remove.
 * Null when there is nothing left. Configs go with the first step.
 */
export async function pruneNext(services: ImportServices, row: ImportRow): Promise<{ up_to: string; archived: Pruned[] } | null> {
  const all = (await everyId(services, 'organization', null)).sort().filter((id) => id > row.pruned_up_to);
  const organizations = all.slice(0, ORGANIZATIONS_A_STEP);
  const last = organizations.at(-1);
  if (last === undefined) return null;
  const kept = await idsInFile(services, row);
  const archived: Pruned[] = [];
  const missing = async (type: Prunable, ids: readonly string[]) =>
    archived.push(...(await archiveMissing(services, row, kept, type, ids)));
  if (row.pruned_up_to === '') await missing('block_rollout_config', await everyId(services, 'block_rollout_config', null));
  for (const organization of organizations) {
    await missing('k8s_cluster', await everyId(services, 'k8s_cluster', organization));
    await missing('workspace', await everyId(services, 'workspace', organization));
    await missing('organization', [organization]);
  }
  return { up_to: last, archived };
}

async function everyId({ objects }: ImportServices, type: Prunable, organization: string | null): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await objects.listIds(type, { organization, path: [] }, { cursor, limit: PAGE });
    found.push(...page.ids);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}

async function idsInFile({ imports }: ImportServices, row: ImportRow): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (let page = 0; page < row.pages; page += 1) {
    for (const unit of await imports.loadPage(row.id, page)) kept.add(unit.id);
  }
  return kept;
}

async function archiveMissing(
  services: ImportServices,
  row: ImportRow,
  kept: ReadonlySet<string>,
  type: Prunable,
  candidates: readonly string[],
): Promise<Pruned[]> {
  const missing = candidates.filter((id) => !kept.has(id));
  const archived: Pruned[] = [];
  for (let from = 0; from < missing.length; from += PAGE) {
    const states = await services.imports.states(missing.slice(from, from + PAGE));
    for (const state of states.values()) {
      const { '': own, ...records } = state.records;
      const gone = state.import === row.id && state.outcomes[''] === 'archived';
      if (own === undefined && !gone) continue;
      if (!gone) {
        await services.archive(type, state.id, row.actor);
        const after = { ...state, version: state.version + 1, records, import: row.id, outcomes: { '': 'archived' as const } };
        await services.imports.apply([{ state: { before: state, after }, objects: [], settings: null }]);
      }
      archived.push({ kind: type, outcome: 'archived' });
    }
  }
  return archived;
}
