import { scheduledFrom } from '../../domain/recurrence/schedule.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { sameTemplates, templateProblems } from '../engine/check-templates.ts';
import { settingsContext } from '../engine/render.ts';
import { AppError, invalid } from '../errors.ts';
import { configId } from '../import/units.ts';
import { newManaged } from '../managed.ts';
import { type ConfigFields, configWith } from './config-fields.ts';
import { configProblems } from './config-rules.ts';
import { everyRow } from './list.ts';
import { type ManagedFields, requireWindow } from './organizations.ts';
import { requireExpected, targetIds } from './scope.ts';
import type { ResourceServices } from './services.ts';
import { create, edit, refuseRename, type Touches } from './write.ts';

export type ConfigRequest = ManagedFields & ConfigFields & { readonly expected_targets?: number };

/** Never "all" by accident: every write answers with the number of targets (SPEC §1). */
export interface WrittenConfig {
  readonly config: BlockRolloutConfig;
  readonly targets_in_scope: number;
}

export async function createConfig(services: ResourceServices, request: ConfigRequest, actor: string): Promise<WrittenConfig> {
  const { expected_targets, name, display_name, labels, annotations, ...fields } = request;
  const fresh = services.ids.fresh();
  const id = name === undefined ? fresh : configId(services.ids, name);
  requireKindOfTrigger(fields);
  const own = configWith(null, fields);
  const born = newManaged({ id, name: name ?? `${own.block_name ?? own.kind} ${fresh}`.slice(0, 253), now: services.clock.now() });
  const managed = { display_name: display_name ?? null, labels: labels ?? {}, annotations: annotations ?? {} };
  const value: BlockRolloutConfig = scheduledFrom(null, { ...born, ...managed, ...own }, services.clock.now());
  const targets = await check(services, value, null, expected_targets);
  const config = await create(services, 'block_rollout_config', value, actor, configTouches(null, value));
  return { config, targets_in_scope: targets.size };
}

/** SPEC §1: a config is of kind config unless it says otherwise; who forgets to say so of a trigger would keep defaults that start nothing. */
function requireKindOfTrigger({ kind, trigger_type }: ConfigFields): void {
  if (kind === undefined && trigger_type != null)
    throw invalid('kind', 'is required with trigger_type: say trigger, or leave trigger_type out.', 'required');
}

/** PUT and PATCH alike: fields left out stay as they are, so that a forgotten list never turns into "the whole fleet". */
export async function updateConfig(services: ResourceServices, id: string, request: ConfigRequest, actor: string): Promise<WrittenConfig> {
  const { expected_targets, name, display_name, labels, annotations, ...fields } = request;
  let targets = new Set<string>();
  const config = await edit(services, 'block_rollout_config', id, {
    actor,
    change: async (before) => {
      refuseRename(before, name);
      const after: BlockRolloutConfig = {
        ...before,
        ...configWith(before, fields),
        ...(display_name === undefined ? {} : { display_name }),
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
      };
      refuseKindChange(before, after);
      targets = await check(services, after, before, expected_targets);
      return scheduledFrom(before, after, services.clock.now());
    },
    touches: configTouches,
  });
  return { config, targets_in_scope: targets.size };
}

/** The system config is what every other one inherits from: it cannot turn into something else. */
function refuseKindChange(before: BlockRolloutConfig, after: BlockRolloutConfig): void {
  if (before.kind !== after.kind && before.is_system_config) throw invalid('kind', `A system config cannot become a ${after.kind}.`);
}

const live = (config: BlockRolloutConfig): boolean =>
  config.kind === 'trigger' && config.active && !config.archived && config.trigger_type === 'reconciliation';

/** What the change of a config asks for (SPEC §2.9); one that stops acting leaves its targets to other configs. */
export function configTouches(before: BlockRolloutConfig | null, after: BlockRolloutConfig): Touches | null {
  if (live(after)) return { rollout_config: after.id };
  if (before === null || !live(before)) return null;
  return { organizations: before.target_organizations, workspaces: before.target_workspaces };
}

/** A config that comes back from the archive acts again: what may not be written may not come back either. */
export async function refuseRevived(services: ResourceServices, config: BlockRolloutConfig): Promise<void> {
  await refuseOpposite(services, config, await targetIds(services, config));
}

/** Everything that one config must be, alone and beside the others; answers its targets. */
async function check(
  services: ResourceServices,
  config: BlockRolloutConfig,
  before: BlockRolloutConfig | null,
  expected: number | undefined,
): Promise<Set<string>> {
  const problems = configProblems(config);
  if (problems.length > 0) throw new AppError('invalid', problems);
  if (before === null || !sameTemplates(before, config)) await refuseTemplates(services, config);
  await requireTargets(services, config, before);
  await requireWindow(services, config.maintenance_window, null, before?.maintenance_window ?? null);
  if (before === null) await refuseSecondSystemConfig(services, config);
  const targets = await targetIds(services, config);
  requireExpected(expected, targets.size);
  await refuseOpposite(services, config, targets);
  return targets;
}

async function refuseTemplates({ renderer, settings }: ResourceServices, config: BlockRolloutConfig): Promise<void> {
  const [problems = []] = await templateProblems(renderer, settingsContext(await settings.read()), [config]);
  if (problems.length === 0) return;
  throw new AppError(
    'invalid',
    problems.map(({ field, reason }) => ({ code: 'template_error', detail: reason, attr: field })),
  );
}

/** SPEC §1: unknown ones are refused; ones that were archived since may stay and match nothing. */
async function requireTargets(services: ResourceServices, config: BlockRolloutConfig, before: BlockRolloutConfig | null): Promise<void> {
  for (const [field, type] of [
    ['target_organizations', 'organization'],
    ['target_workspaces', 'workspace'],
  ] as const) {
    const added = config[field].filter((id) => !(before?.[field] ?? []).includes(id));
    const found = await services.objects.getMany(type, added);
    const unknown = added.find((id) => !found.has(id));
    if (unknown !== undefined) throw invalid(field, `The ${type} ${unknown} does not exist.`, 'does_not_exist');
  }
}

/** SPEC §1, §5: the installation brings the two system configs along, one of each kind; there is never another. */
async function refuseSecondSystemConfig(services: ResourceServices, config: BlockRolloutConfig): Promise<void> {
  if (!config.is_system_config) return;
  const first = (await everyConfig(services)).find((other) => other.kind === config.kind && other.is_system_config);
  if (first !== undefined)
    throw invalid(
      'non_field_errors',
      `There is one system config of kind ${config.kind}: "${first.name}" (${first.id}); change that one.`,
      'unique',
    );
}

const everyConfig = (services: ResourceServices): Promise<BlockRolloutConfig[]> =>
  everyRow(services, 'block_rollout_config', { organization: null, path: [] });

/** SPEC §2.1: two configs that undo each other's work on the same target would never come to an end. */
async function refuseOpposite(services: ResourceServices, config: BlockRolloutConfig, targets: ReadonlySet<string>): Promise<void> {
  if (!live(config)) return;
  const opposite = (await everyConfig(services)).filter(
    (other) =>
      other.id !== config.id &&
      live(other) &&
      other.block_name === config.block_name &&
      other.action_name !== config.action_name &&
      other.target_kind === config.target_kind,
  );
  for (const other of opposite) {
    const theirs = await targetIds(services, other);
    const shared = [...targets].filter((id) => theirs.has(id)).length;
    const sameEverything = covers(config, other);
    if (shared === 0 && !sameEverything) continue;
    throw invalid(
      'action_name',
      `Rollout config "${other.name}" does ${other.action_name} where this one does ${config.action_name} (${shared} targets in both scopes). Narrow one of them or deactivate the other.`,
    );
  }
}

/** Also before there is any target: two configs for the whole fleet overlap. */
const covers = (a: BlockRolloutConfig, b: BlockRolloutConfig): boolean =>
  [a, b].every((c) => c.target_organizations.length === 0 && c.target_workspaces.length === 0 && c.scope_expressions.length === 0);
