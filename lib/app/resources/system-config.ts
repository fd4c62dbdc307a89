import type { Json } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import { isSemver } from '../../domain/version/compare.ts';
import { AppError, invalid } from '../errors.ts';
import { isSame } from '../import/diff.ts';
import type { Also, Demand } from '../ports.ts';
import { everyRow } from './list.ts';
import { requireExpected, targetIds } from './scope.ts';
import type { ResourceServices } from './services.ts';
import { auditEvent, demandOf, follow } from './write.ts';

export type KnownKey = Exclude<keyof SystemSettings, 'revision' | 'free'>;

export interface SettingsPatch {
  readonly known: Partial<Pick<SystemSettings, KnownKey>>;
  /** null takes a free key away. */
  readonly free: Readonly<Record<string, Json>>;
  /** This change may lower OPERATOR_BLOCK_VERSION where something newer is installed (SPEC §2.3). */
  readonly allow_downgrade: boolean;
  readonly expected_targets: number | undefined;
}

export interface WrittenSettings {
  readonly updated_keys: readonly string[];
  readonly targets_in_scope: number;
}

const TRIES = 4;
/** One transaction holds the settings, the audit and a demand for each config that reads a changed key. */
const MOST_DEMANDS = 50;

/** SPEC §1 SystemConfig: whole or not at all; a wrong value leaves everything as it was. */
export async function updateSettings(services: ResourceServices, patch: SettingsPatch, actor: string): Promise<WrittenSettings> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeOnce(services, patch, actor);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'stale' || attempt >= TRIES) throw error;
    }
  }
}

async function writeOnce(services: ResourceServices, patch: SettingsPatch, actor: string): Promise<WrittenSettings> {
  const before = await services.settings.read();
  const after = settingsWith(before, patch);
  check(after, patch);
  const keys = changedKeys(before, after);
  const { configs, targets } = await readers(services, keys);
  requireExpected(patch.expected_targets, targets);
  if (keys.length === 0) return { updated_keys: [], targets_in_scope: targets };
  const demands = demandsFor(services, configs, patch, actor);
  await services.settings.write(before, after, [
    audit(services, before, after, keys, actor),
    ...demands.map((demand): Also => ({ kind: 'demand', demand })),
  ]);
  await follow(services, { type: 'settings', id: 'system-config', fields: keys }, ...demands);
  return { updated_keys: keys, targets_in_scope: targets };
}

function settingsWith(before: SystemSettings, { known, free }: SettingsPatch): SystemSettings {
  const merged = Object.entries({ ...before.free, ...free }).filter(([, value]) => value !== null);
  return { ...before, ...known, free: Object.fromEntries(merged) };
}

function check(after: SystemSettings, { known }: SettingsPatch): void {
  const version = known.OPERATOR_BLOCK_VERSION;
  if (typeof version === 'string' && !isSemver(version))
    throw invalid('OPERATOR_BLOCK_VERSION', `"${version}" is not a semantic version such as 1.2.3.`);
  if (after.AGENT_WARNING_AFTER_SECONDS <= after.AGENT_CRITICAL_AFTER_SECONDS) return;
  const attr = known.AGENT_WARNING_AFTER_SECONDS === undefined ? 'AGENT_CRITICAL_AFTER_SECONDS' : 'AGENT_WARNING_AFTER_SECONDS';
  throw invalid(
    attr,
    `AGENT_WARNING_AFTER_SECONDS (${after.AGENT_WARNING_AFTER_SECONDS}) must not be above AGENT_CRITICAL_AFTER_SECONDS (${after.AGENT_CRITICAL_AFTER_SECONDS}).`,
  );
}

/** The settings as one flat object, as templates and the API show them. */
export function flat(settings: SystemSettings): Readonly<Record<string, Json>> {
  const { revision: _, free, ROLLOUTS_PAUSED, ...known } = settings;
  return { ...free, ...known, ROLLOUTS_PAUSED: ROLLOUTS_PAUSED === null ? null : { reason: ROLLOUTS_PAUSED.reason } };
}

function changedKeys(before: SystemSettings, after: SystemSettings): string[] {
  const [old, now] = [flat(before), flat(after)];
  return Object.keys({ ...old, ...now }).filter((key) => !isSame({ v: old[key] ?? null }, { v: now[key] ?? null }));
}

/** The configs whose texts name a changed key, and how many targets they have together: what the change touches, and nothing else (SPEC §2.9). */
async function readers(services: ResourceServices, keys: readonly string[]): Promise<{ configs: BlockRolloutConfig[]; targets: number }> {
  const all = await everyRow(services, 'block_rollout_config', { organization: null, path: [] });
  const configs = all.filter((config) => reconciles(config) && keys.some((key) => textOf(config).includes(key)));
  const targets = new Set<string>();
  for (const config of configs) for (const id of await targetIds(services, config)) targets.add(id);
  return { configs, targets: targets.size };
}

const reconciles = (config: BlockRolloutConfig): boolean =>
  config.kind === 'trigger' && config.active && !config.archived && config.trigger_type === 'reconciliation';

const textOf = (config: BlockRolloutConfig): string =>
  [config.target_version, config.block_config_template, config.template_block].filter((text) => text !== null).join('\n');

function demandsFor(
  services: ResourceServices,
  configs: readonly BlockRolloutConfig[],
  { allow_downgrade }: SettingsPatch,
  actor: string,
): Demand[] {
  if (configs.length > MOST_DEMANDS) return [demandOf(services, { allow_downgrade }, actor)];
  return configs.map((config) => demandOf(services, { rollout_config: config.id, allow_downgrade }, actor));
}

function audit(services: ResourceServices, before: SystemSettings, after: SystemSettings, keys: readonly string[], actor: string): Also {
  const of = (settings: SystemSettings): Json => Object.fromEntries(keys.map((key) => [key, flat(settings)[key] ?? null]));
  const facts = {
    actor,
    action: 'update',
    organization: null,
    object_type: 'settings',
    object_id: 'system-config',
    before: of(before),
    after: of(after),
  };
  return { kind: 'audit', event: auditEvent(services, facts) };
}
