import { installedVersion } from '../../domain/demand/installed.ts';
import { parseCron } from '../../domain/recurrence/cron.ts';
import { nextFires } from '../../domain/recurrence/fires.ts';
import type { BlockRolloutConfig, Item } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { type Decided, decideTargets, lacksOperatorVersion } from '../engine/decide-target.ts';
import { supersedes } from '../engine/enqueue-items.ts';
import { type Target, withBlocks } from '../engine/enqueue-targets.ts';
import { targetsInScope } from '../engine/scope-count.ts';
import type { EngineServices } from '../engine/services.ts';
import { invalid, notFound } from '../errors.ts';
import type { Page, PageRequest } from '../paging.ts';

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

export interface ConfigPreview extends Page<PreviewTarget> {
  readonly targets_in_scope: number;
  /** How many targets would get which action, over all pages. */
  readonly actions: Readonly<Partial<Record<PreviewAction, number>>>;
  readonly next_fires: readonly Instant[];
}

const FIRES = 10;

/** SPEC §1 "Scope": who is meant and what would happen, decided by the same rules as the enqueue run; nothing is written. Also for an inactive config. */
export async function previewConfig(services: EngineServices, id: string, page: PageRequest): Promise<ConfigPreview> {
  const config = await services.objects.get('block_rollout_config', id, true);
  if (config === null) throw notFound(`Rollout config ${id}`);
  const start = startOf(page);
  const rows: PreviewTarget[] = [];
  const actions: Partial<Record<PreviewAction, number>> = {};
  let [targets, count] = [0, 0];
  if (config.kind === 'trigger')
    for await (const part of targetsInScope(services, config)) {
      targets += part.length;
      for (const row of await rowsOf(services, config, part)) {
        if (count >= start && count < start + page.page_size) rows.push(row);
        actions[row.action] = (actions[row.action] ?? 0) + 1;
        count += 1;
      }
    }
  const end = start + rows.length;
  return {
    targets_in_scope: targets,
    actions,
    next_fires: firesOf(config, services.clock.now()),
    count,
    rows,
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

const NO_OPERATOR_VERSION = { target_version: null, action: 'none', reason: 'OPERATOR_BLOCK_VERSION is not set' } as const;

async function rowsOf(services: EngineServices, config: BlockRolloutConfig, targets: readonly Target[]): Promise<PreviewTarget[]> {
  const settings = await services.settings.read();
  const found = await withBlocks(services, config, targets);
  const look = { run: config.trigger_type === 'schedule' ? 'schedule' : 'reconciliation', allow_downgrade: false } as const;
  const decided = await decideTargets(services, look, config, settings, found);
  const active = await services.engine.items(decided.flatMap((d) => d.at.block?.active_item ?? []));
  const rows = decided.map((d) => rowOf(d, active.get(d.at.block?.active_item ?? '') ?? null));
  return lacksOperatorVersion(services, config, settings) ? rows.map((row) => ({ ...row, ...NO_OPERATOR_VERSION })) : rows;
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
      if (active !== null && !supersedes({ ...decided, decision }, active)) return { action: 'none', reason: 'already_active' };
      return { action: actionOf(decided), reason: decision.downgrade ? 'downgrade' : decision.why };
  }
}

function actionOf({ config, at }: Decided): PreviewAction {
  if (config.action_name === 'uninstall') return 'uninstall';
  if (config.action_name !== 'install') return 'run';
  return installedVersion(at.block, at.app) === null ? 'install' : 'upgrade';
}
