import { installedVersion } from '../../domain/demand/installed.ts';
import { parseCron } from '../../domain/recurrence/cron.ts';
import { nextFires } from '../../domain/recurrence/fires.ts';
import type { BlockRolloutConfig, Item } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { resolveWindow } from '../../domain/windows/calendar.ts';
import { describeUntil } from '../../domain/windows/describe.ts';
import { firstStart } from '../../domain/windows/first-start.ts';
import { type Calendar, combineCalendars } from '../../domain/windows/openings.ts';
import { calendarKey, type WindowObjects, windowsFor } from '../engine/calendars.ts';
import { type Decided, decideTargets, lacksOperatorVersion } from '../engine/decide-target.ts';
import { supersedes } from '../engine/enqueue-items.ts';
import { type Target, withBlocks } from '../engine/enqueue-targets.ts';
import { readMaintenances } from '../engine/maintenances.ts';
import { targetsInScope } from '../engine/scope-count.ts';
import type { EngineServices } from '../engine/services.ts';
import { waitingViews } from '../engine/views.ts';
import { invalid, notFound } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';
import { type Moment, momentOf } from './window-preview.ts';

export type PreviewAction = 'install' | 'upgrade' | 'uninstall' | 'run' | 'none' | 'skip';

/** What one target would get if the config were looked at now. */
export interface PreviewTarget {
  readonly target_kind: BlockRolloutConfig['target_kind'];
  readonly target_id: string;
  readonly target: string;
  readonly workspace: string;
  readonly organization: string;
  /** null = the block would be made. */
  readonly block: string | null;
  readonly installed_version: string | null;
  readonly target_version: string | null;
  readonly action: PreviewAction;
  readonly reason: string | null;
}

export type WindowSource = 'config' | 'workspace' | 'organization' | 'system_default';

/**
 * When windows, freezes and Maintenances let a target start what it would get; slots, agents and pauses come on top. Where an item of the config
 * waits already, its start is the one that the item's own read says (SPEC §3.8).
 */
export interface PreviewTimes {
  /** null = always open but for freezes; also where the config bypasses windows. */
  readonly window: { readonly id: string; readonly name: string; readonly source: WindowSource; readonly time_zone: string } | null;
  /** From now on; null = it gets nothing and nothing of it waits, or nobody can say. */
  readonly earliest_start: Instant | null;
  /** In words: `now`, `in 3 h 12 min (22:00 Europe/Berlin)`. */
  readonly earliest_start_text: string | null;
  /** Of a schedule: for each of the next fires, in their order; also where the block is busy with an item now. */
  readonly scheduled_starts: readonly (Instant | null)[];
}
export type PreviewRow = PreviewTarget & PreviewTimes;

export interface ConfigPreview extends Page<PreviewRow> {
  readonly targets_in_scope: number;
  /** How many targets would get which action, over all pages. */
  readonly actions: Readonly<Partial<Record<PreviewAction, number>>>;
  readonly next_fires: readonly Moment[];
}

const FIRES = 10;

/** SPEC §1 "Scope": who is meant and what would happen, decided by the same rules as the enqueue run; nothing is written. Also for an inactive config. */
export async function previewConfig(services: EngineServices, id: string, page: PageRequest): Promise<ConfigPreview> {
  const config = await services.objects.get('block_rollout_config', id, true);
  if (config === null) throw notFound(`Rollout config ${id}`);
  const start = startOf(page);
  const shown: Shown[] = [];
  const actions: Partial<Record<PreviewAction, number>> = {};
  let [targets, count] = [0, 0];
  if (config.kind === 'trigger')
    for await (const part of targetsInScope(services, config)) {
      targets += part.length;
      for (const row of await rowsOf(services, config, part)) {
        if (count >= start && count < start + page.page_size) shown.push(row);
        actions[row.row.action] = (actions[row.row.action] ?? 0) + 1;
        count += 1;
      }
    }
  const end = start + shown.length;
  const fires = firesOf(config, services.clock.now());
  return {
    targets_in_scope: targets,
    actions,
    next_fires: fires.map((at) => momentOf(at, config.time_zone)),
    count,
    rows: await withTimes(services, config, shown, fires),
    cursor: end < count ? String(end) : null,
  };
}

/** The cursor is the place in the list, as in the engine's lists. */
function startOf(page: PageRequest): number {
  if (page.cursor === null) return (page.page - 1) * page.page_size;
  if (!/^\d{1,9}$/.test(page.cursor)) throw invalid('cursor', 'is not a cursor of this list; take it from the "next" of the page before.');
  return Number(page.cursor);
}

function firesOf(config: BlockRolloutConfig, now: Instant): readonly Instant[] {
  if (config.trigger_type !== 'schedule' || config.cron_expression === null) return [];
  const parsed = parseCron(config.cron_expression);
  return parsed.ok ? nextFires(parsed.cron, config.time_zone, now, FIRES) : [];
}

/** A row with what it was made from. */
interface Shown {
  readonly row: PreviewTarget;
  readonly target: Target;
  /** The active item of its block, of whichever config. */
  readonly active: Item | null;
}

async function withTimes(
  services: EngineServices,
  config: BlockRolloutConfig,
  shown: readonly Shown[],
  fires: readonly Instant[],
): Promise<PreviewRow[]> {
  const now = services.clock.now();
  const keyOf = ({ workspace, organization }: Target): string => calendarKey(workspace, organization);
  const [settings, maintenances, waiting] = await Promise.all([
    services.settings.read(),
    readMaintenances(services, now),
    waitingStarts(services, config, shown, now),
  ]);
  const keys = shown.map(({ target }) => keyOf(target));
  const sources = await windowsFor(services, { config, settings }, keys);
  return shown.map(({ row, target, active }) => {
    const { window, calendar } = ruleOf(config, sources.get(keyOf(target)));
    const acts = row.action !== 'none' && row.action !== 'skip';
    const where = { organization: target.organization.id, workspace: target.workspace.id, k8s_cluster: target.cluster?.id ?? null };
    const startFrom = (t: Instant): Instant | null => firstStart(calendar, maintenances.spans(where), t);
    const earliest_start = acts ? startFrom(now) : (waiting.get(active?.id ?? '') ?? null);
    return {
      ...row,
      window,
      earliest_start,
      earliest_start_text: earliest_start === null ? null : describeUntil(now, earliest_start, window?.time_zone ?? config.time_zone),
      scheduled_starts: acts || row.reason === ALREADY_ACTIVE ? fires.map(startFrom) : [],
    };
  });
}

/** By item: when this config's waiting items start, as their own reads say it. */
async function waitingStarts(
  services: EngineServices,
  config: BlockRolloutConfig,
  shown: readonly Shown[],
  now: Instant,
): Promise<Map<string, Instant | null>> {
  const own = shown.flatMap(({ active }) => (active?.rollout_config === config.id ? [active] : []));
  return new Map((await waitingViews(services, own, now)).map((view) => [view.item.id, view.earliest_start]));
}

const SOURCES = { config: 'config', workspace: 'workspace', organization: 'organization', systemDefault: 'system_default' } as const;

/** Bypassed windows do not count, their freezes do (SPEC §3.10). */
function ruleOf(config: BlockRolloutConfig, sources: WindowObjects | undefined): Pick<PreviewTimes, 'window'> & { calendar: Calendar } {
  if (sources === undefined) return { window: null, calendar: combineCalendars(null, []) };
  const { from, calendar } = resolveWindow(sources);
  const window = from === null ? null : sources[from];
  if (config.bypass_maintenance_window) return { window: null, calendar: { ...calendar, slots: null } };
  if (from === null || window === null) return { window: null, calendar };
  return { window: { id: window.id, name: window.name, source: SOURCES[from], time_zone: window.time_zone }, calendar };
}

const NO_OPERATOR_VERSION = { target_version: null, action: 'none', reason: 'OPERATOR_BLOCK_VERSION is not set' } as const;

async function rowsOf(services: EngineServices, config: BlockRolloutConfig, targets: readonly Target[]): Promise<Shown[]> {
  const settings = await services.settings.read();
  const found = await withBlocks(services, config, targets);
  const look = { run: config.trigger_type === 'schedule' ? 'schedule' : 'reconciliation', allow_downgrade: false } as const;
  const decided = await decideTargets(services, look, config, settings, found);
  const active = await services.engine.items(decided.flatMap((d) => d.at.block?.active_item ?? []));
  const unset = lacksOperatorVersion(services, config, settings) ? NO_OPERATOR_VERSION : {};
  return decided.map((d) => {
    const item = active.get(d.at.block?.active_item ?? '') ?? null;
    return { target: d.at.target, active: item, row: { ...rowOf(d, item), ...unset } };
  });
}

function rowOf(decided: Decided, active: Item | null): PreviewTarget {
  const { config, at, rendered } = decided;
  const { organization, workspace, cluster } = at.target;
  return {
    target_kind: config.target_kind,
    target_id: cluster?.id ?? workspace.id,
    target: cluster?.name ?? workspace.name,
    workspace: workspace.name,
    organization: organization.name,
    block: at.block?.id ?? null,
    installed_version: installedVersion(at.block, at.app),
    target_version: rendered.ok ? rendered.target_version : null,
    ...outcomeOf(decided, active),
  };
}

/** Why a target gets nothing more now: its block is busy with an item. */
const ALREADY_ACTIVE = 'already_active';

function outcomeOf(decided: Decided, active: Item | null): Pick<PreviewTarget, 'action' | 'reason'> {
  const { decision } = decided;
  switch (decision.kind) {
    case 'nothing':
      return { action: 'none', reason: decision.why };
    case 'skipped':
      return { action: 'skip', reason: decision.reason };
    case 'template_error':
      return { action: 'skip', reason: `template_error: ${decision.error}` };
    case 'enqueue':
      // SPEC §2.5: one active item per block; only an older target of the same config gives way.
      if (active !== null && !supersedes({ ...decided, decision }, active)) return { action: 'none', reason: ALREADY_ACTIVE };
      return { action: actionOf(decided), reason: decision.downgrade ? 'downgrade' : decision.why };
  }
}

function actionOf({ config, at }: Decided): PreviewAction {
  if (config.action_name === 'uninstall') return 'uninstall';
  if (config.action_name !== 'install') return 'run';
  return installedVersion(at.block, at.app) === null ? 'install' : 'upgrade';
}
