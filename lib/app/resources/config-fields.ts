import { CONFIG_DEFAULTS } from '../../domain/shared/defaults.ts';
import type { Managed } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';

/** Everything of a config but what every object has. */
export type ConfigOwn = Omit<BlockRolloutConfig, keyof Managed>;
/** Kept by the service itself. */
const ENGINE_OWNED = ['template_revision', 'schedule_since'] as const;
export type ConfigFields = Partial<Omit<ConfigOwn, (typeof ENGINE_OWNED)[number]>>;

/** What a wave is made of besides the rendered target (SPEC §2.7): a change makes a new template revision. */
const TEMPLATE = ['target_version', 'block_config_template', 'template_block'] as const;

/** `before` = null: a new config, with the defaults; else only the given fields change. null = the default (which is null for most). */
export function configWith(before: ConfigOwn | null, patch: Readonly<Record<string, unknown>>): ConfigOwn {
  const base = before ?? CONFIG_DEFAULTS;
  const defaults: Readonly<Record<string, unknown>> = CONFIG_DEFAULTS;
  const owned: readonly string[] = ENGINE_OWNED;
  const given = Object.entries(patch).filter(([field, value]) => field in defaults && !owned.includes(field) && value !== undefined);
  const after: ConfigOwn = { ...base, ...Object.fromEntries(given.map(([field, value]) => [field, value ?? defaults[field]])) };
  const changed = before !== null && TEMPLATE.some((field) => before[field] !== after[field]);
  return changed ? { ...after, template_revision: before.template_revision + 1 } : after;
}
