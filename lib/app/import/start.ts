import { gunzipSync } from 'node:zlib';
import type { FleetFile } from '../../contracts/fleet.ts';
import type { JsonObject } from '../../domain/shared/fleet.ts';
import { SECOND } from '../../domain/shared/time.ts';
import { templateProblems } from '../engine/check-templates.ts';
import { settingsContext } from '../engine/render.ts';
import { AppError, invalid, unavailable } from '../errors.ts';
import { continueImport, IMPORT_PATIENCE, noCounts } from './advance.ts';
import { checkFleet, type Mistake, type NamedTarget, type NamedTemplates } from './check.ts';
import type { Counts, ImportRow, ImportServices } from './ports.ts';
import { targetId } from './targets.ts';
import { pagesOf, recordsIn, unitsOf } from './units.ts';

/** SPEC §13: a fleet file may be so large, unpacked. */
export const MAX_FLEET_BYTES = 20 * 1024 * 1024;
/** An answer names so many mistakes; the rest is counted. */
const MAX_NAMED_MISTAKES = 1000;

export interface StartImport {
  /** The file as it came, gzipped or not. */
  readonly body: Uint8Array;
  readonly actor: string;
  readonly prune: boolean;
}

export interface ImportProgress {
  readonly id: string;
  readonly status: 'running' | 'completed';
  readonly total: number;
  readonly done: number;
  readonly counts: Counts;
  readonly created_at: number;
  readonly finished_at: number | null;
}

/**
 * Pages that a request applies: small files are done with the first request, and whoever follows a large one brings it on. A request has 29 s,
 * and nothing may go on after its answer; on a busy table it stops early, and the next goes on.
 */
const PAGES_A_REQUEST = 5;
const TIME_A_REQUEST = 10 * SECOND;

/**
 * Checks the whole file (one mistake anywhere and nothing is written), keeps it page by page and applies the first ones. The rest is done by
 * the requests that ask for its progress, or by the tick when nobody asks.
 */
export async function startImport(services: ImportServices, { body, actor, prune }: StartImport): Promise<ImportProgress> {
  const { clock, ids, imports, configs } = services;
  const selector = (text: string) => services.selectorProblem(text);
  const checked = checkFleet(textOf(body), { config: (fields) => configs.check(fields), selector });
  if (!checked.ok) throw refusedFile(checked.mistakes);
  const wrong = [
    ...(await unknownTargets(services, checked.fleet, checked.targets)),
    ...(await brokenTemplates(services, checked.fleet, checked.templates)),
  ];
  if (wrong.length > 0) throw refusedFile(wrong);
  const units = unitsOf(checked.fleet, ids);
  const pages = pagesOf(units);
  const now = clock.now();
  const row: ImportRow = {
    id: ids.fresh(),
    status: 'running',
    actor,
    prune,
    created_at: now,
    finished_at: null,
    pages: pages.length,
    next_page: 0,
    total: recordsIn(units),
    done: 0,
    counts: noCounts(),
    touched: { everything: false, clusters: [], workspaces: [], organizations: [] },
    pruned_up_to: '',
    look_again_at: now + IMPORT_PATIENCE,
    version: 1,
  };
  await imports.savePages(row.id, pages);
  if (!(await imports.put(null, row))) throw unavailable('The import could not be kept; send the file again.');
  // It is kept now: what goes wrong from here on is made good by the next request or the tick.
  return progressOf(await someSteps(services, row.id).catch(() => row));
}

/** How far it is; asking brings it on. */
export async function getImport(services: ImportServices, id: string): Promise<ImportProgress> {
  return progressOf(await someSteps(services, id));
}

function someSteps(services: ImportServices, id: string): Promise<ImportRow> {
  let left = PAGES_A_REQUEST;
  const end = services.clock.now() + TIME_A_REQUEST;
  return continueImport(services, id, () => left-- > 0 && services.clock.now() < end);
}

export function progressOf({ id, status, total, done, counts, created_at, finished_at }: ImportRow): ImportProgress {
  return { id, status, total, done, counts, created_at, finished_at };
}

const isGzip = (body: Uint8Array): boolean => body[0] === 0x1f && body[1] === 0x8b;

function textOf(body: Uint8Array): string {
  const bytes = isGzip(body) ? unpacked(body) : body;
  if (bytes.length > MAX_FLEET_BYTES) throw tooLarge();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError('invalid', [{ code: 'invalid', detail: 'The fleet file is not UTF-8 text.', attr: null }], { cause });
  }
}

function unpacked(body: Uint8Array): Uint8Array {
  try {
    return gunzipSync(body, { maxOutputLength: MAX_FLEET_BYTES + 1 });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge();
    throw new AppError('invalid', [{ code: 'invalid', detail: 'The gzip data is damaged; pack the fleet file again.', attr: null }], {
      cause,
    });
  }
}

const tooLarge = (): AppError =>
  new AppError('too_large', [
    {
      code: 'too_large',
      detail: `A fleet file may have at most ${MAX_FLEET_BYTES / 1024 / 1024} MB; import it in several files.`,
      attr: null,
    },
  ]);

export function refusedFile(mistakes: readonly Mistake[]): AppError {
  const problems = mistakes.slice(0, MAX_NAMED_MISTAKES).map((mistake) => ({
    code: 'invalid',
    detail: `line ${mistake.line}, column ${mistake.column}: ${mistake.reason}`,
    attr: mistake.path === '' ? null : mistake.path,
  }));
  const more = mistakes.length - problems.length;
  if (more > 0) problems.push({ code: 'invalid', detail: `… and ${more} more mistakes`, attr: null });
  return problems.length === 0 ? invalid(null, 'The fleet file is wrong.') : new AppError('invalid', problems);
}

/** SPEC §8, with the settings as they will be. */
async function brokenTemplates(services: ImportServices, fleet: FleetFile, named: readonly NamedTemplates[]): Promise<Mistake[]> {
  if (named.length === 0) return [];
  const settings = { ...settingsContext(await services.settings.read()), ...(fleet.system_config as JsonObject | undefined) };
  const problems = await templateProblems(
    services.renderer,
    settings,
    named.map(({ templates }) => templates),
  );
  return named.flatMap(({ mistake }, index) => (problems[index] ?? []).map(mistake));
}

/** SPEC §1 "Scope": a config that names an organization or workspace which neither the file nor the fleet has is refused. */
async function unknownTargets(services: ImportServices, fleet: FleetFile, targets: readonly NamedTarget[]): Promise<Mistake[]> {
  if (targets.length === 0) return [];
  const known = new Set(unitsOf({ ...fleet, rollout_configs: [] }, services.ids).map((unit) => unit.id));
  const open = targets
    .map((target) => ({ ...target, id: targetId(services.ids, target.kind, target.text) }))
    .filter(({ id }) => !known.has(id));
  const idsOf = (kind: NamedTarget['kind']) => open.filter((target) => target.kind === kind).map(({ id }) => id);
  const organizations = await services.objects.getMany('organization', idsOf('organization'));
  const workspaces = await services.objects.getMany('workspace', idsOf('workspace'));
  return open.filter(({ id }) => !organizations.has(id) && !workspaces.has(id)).map(({ mistake }) => mistake);
}
