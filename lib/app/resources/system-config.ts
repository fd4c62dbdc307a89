import type { Json, JsonObject } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import { isSemver } from '../../domain/version/compare.ts';
import { AppError, invalid } from '../errors.ts';
import { isSame } from '../import/diff.ts';
import type { Also, Demand } from '../ports.ts';
import { everyRow } from './list.ts';
import { requireExpected, targetIds } from './scope.ts';
import type { ResourceServices } from './services.ts';
import { auditEvent, demandOf, follow } from './write.ts';

export type KnownKey = Exclude<keyof SystemSettings, 'revision' | 'free' | 'default_window'>;

export interface SettingsPatch {
  readonly known: Partial<Pick<SystemSettings, KnownKey>>;
  /** null takes a free key away. */
  readonly free: JsonObject;
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
  const asked = isLowering(patch) ? [...new Set([...keys, VERSION])] : keys;
  const { configs, targets } = await readers(services, asked);
  requireExpected(patch.expected_targets, targets);
  if (asked.length === 0) return { updated_keys: [], targets_in_scope: targets };
  const demands = demandsFor(services, configs, patch, actor);
  await services.settings.write(before, after, [
    audit(services, { before, after, keys: asked, allow_downgrade: patch.allow_downgrade }, actor),
    ...demands.map((demand): Also => ({ kind: 'demand', demand })),
  ]);
  await follow(services, { type: 'settings', id: 'system-config', fields: keys }, ...demands);
  return { updated_keys: keys, targets_in_scope: targets };
}

const VERSION = 'OPERATOR_BLOCK_VERSION';

/** SPEC §2.3. Also when the version stands already: whoever forgot to allow it the first time sends it again. */
const isLowering = ({ known, allow_downgrade }: SettingsPatch): boolean => allow_downgrade && known[VERSION] !== undefined;

function settingsWith(before: SystemSettings, { known, free }: SettingsPatch): SystemSettings {
  const merged = Object.entries({ ...before.free, ...free }).filter(([, value]) => value !== null);
  return { ...before, ...known, free: Object.fromEntries(merged) };
}

/** The settings are one row, read at each decision: they stay small. */
const FREE_BYTES = 4 * 1024;
const ALL_FREE_BYTES = 64 * 1024;
const bytesOf = (value: Json): number => new TextEncoder().encode(JSON.stringify(value)).length;

function checkFree(all: JsonObject, given: JsonObject): void {
  const large = Object.keys(given).find((key) => bytesOf(given[key] ?? null) > FREE_BYTES);
  if (large !== undefined) throw invalid(large, 'must be at most 4 KiB as JSON.', 'max_length');
  const [first] = Object.keys(given);
  if (first !== undefined && bytesOf(all) > ALL_FREE_BYTES)
    throw invalid(
      first,
      'is one too many: all free keys together must be at most 64 KiB as JSON. Take others away by setting them to null.',
    );
}

function check(after: SystemSettings, { known, free }: SettingsPatch): void {
  checkFree(after.free, free);
  const version = known[VERSION];
  if (typeof version === 'string' && !isSemver(version)) throw invalid(VERSION, `"${version}" is not a semantic version such as 1.2.3.`);
  if (after.AGENT_WARNING_AFTER_SECONDS <= after.AGENT_CRITICAL_AFTER_SECONDS) return;
  const attr = known.AGENT_WARNING_AFTER_SECONDS === undefined ? 'AGENT_CRITICAL_AFTER_SECONDS' : 'AGENT_WARNING_AFTER_SECONDS';
  throw invalid(
    attr,
    `AGENT_WARNING_AFTER_SECONDS (${after.AGENT_WARNING_AFTER_SECONDS}) must not be above AGENT_CRITICAL_AFTER_SECONDS (${after.AGENT_CRITICAL_AFTER_SECONDS}).`,
  );
}

/** The settings as one flat object, as templates and the API show them. */
export function flat(settings: SystemSettings): Readonly<Record<string, Json>> {
  const { revision: _, default_window: _window, free, ROLLOUTS_PAUSED, ...known } = settings;
  return { ...free, ...known, ROLLOUTS_PAUSED: ROLLOUTS_PAUSED === null ? null : { reason: ROLLOUTS_PAUSED.reason } };
}

function changedKeys(before: SystemSettings, after: SystemSettings): string[] {
  const [old, now] = [flat(before), flat(after)];
  return Object.keys({ ...old, ...now }).filter((key) => !isSame({ v: old[key] ?? null }, { v: now[key] ?? null }));
}

/** The configs whose texts name a changed key, and how many targets they have together: what the change touches, and nothing else (SPEC §2.9). */
async function readers(services: ResourceServices, keys: readonly string[]): Promise<{ configs: BlockRolloutConfig[]; targets: number }> {
  const all = await everyRow(services, 'block_rollout_config', { organization: null, path: [] });
  const configs = all.filter((config) => reconciles(config) && reads(textOf(config), keys));
  const targets = new Set<string>();
  for (const config of configs) for (const id of await targetIds(services, config)) targets.add(id);
  return { configs, targets: targets.size };
}

/** A template that takes the settings as a whole, or by a computed name, may read any key. */
const reads = (text: string, keys: readonly string[]): boolean =>
  keys.length > 0 && (keys.some((key) => text.includes(key)) || /\bsystem_config\b(?!\s*\.\s*\w)/.test(text));

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
  return configs.map((config) =>
    demandOf(services, { rollout_config: config.id, allow_downgrade: allow_downgrade && textOf(config).includes(VERSION) }, actor),
  );
}

interface Audited {
  readonly before: SystemSettings;
  readonly after: SystemSettings;
  readonly keys: readonly string[];
  readonly allow_downgrade: boolean;
}

function audit(services: ResourceServices, { before, after, keys, allow_downgrade }: Audited, actor: string): Also {
  const of = (settings: SystemSettings): JsonObject => Object.fromEntries(keys.map((key) => [key, flat(settings)[key] ?? null]));
  const facts = {
    actor,
    action: 'update',
    organization: null,
    object_type: 'settings',
    object_id: 'system-config',
    before: of(before),
    after: allow_downgrade ? { ...of(after), allow_downgrade } : of(after),
  };
  return { kind: 'audit', event: auditEvent(services, facts) };
}
