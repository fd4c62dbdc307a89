import type { z } from 'zod';
import { updateConfig } from '../../contracts/api/configs.ts';
import type { Managed } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { ConfigBuilder } from './ports.ts';

type Own = Omit<BlockRolloutConfig, keyof Managed>;

/** SPEC §1: what a config has where nobody has said anything. */
const DEFAULTS: Own = {
  kind: 'config',
  is_system_config: false,
  active: true,
  block_name: null,
  action_name: 'install',
  trigger_type: null,
  cron_expression: null,
  time_zone: 'UTC',
  target_kind: 'k8s_cluster',
  target_organizations: [],
  target_workspaces: [],
  scope_expressions: [],
  target_version: null,
  block_config_template: null,
  template_block: null,
  template_revision: 1,
  max_concurrent_percent: null,
  failure_threshold_percent: null,
  max_retries: null,
  retry_base_seconds: null,
  action_timeout_seconds: null,
  quiescence_seconds: null,
  early_brake: false,
  verify_version: true,
  soak_seconds: 0,
  hold_after_first_batch: false,
  park_after_hours: 168,
  allow_downgrade: false,
  maintenance_window: null,
  bypass_maintenance_window: false,
  auto_takeover: false,
  config_to_credential_mappings: [],
  notify_on_wave_blocked: true,
  enqueue_reason: null,
};

/** A wave is made of one revision of these (SPEC §2.7). */
const TEMPLATE_FIELDS = ['target_version', 'block_config_template', 'template_block'] as const;

/** Rollout configs of a fleet file: the API's fields, checked with the API's schema. */
export const configBuilder: ConfigBuilder = {
  check(fields) {
    const issues = updateConfig.safeParse(fields, { reportInput: true }).error?.issues ?? [];
    return [...issues, ...missingParts(fields)];
  },

  build(before, patch) {
    const base = before ?? DEFAULTS;
    const defaults: Readonly<Record<string, unknown>> = DEFAULTS;
    const given = Object.entries(patch).filter(([field]) => field in defaults);
    const changed = Object.fromEntries(given.map(([field, value]): [string, unknown] => [field, value ?? defaults[field]]));
    const after: Own = { ...ownOf(base), ...changed };
    const revised = before !== null && TEMPLATE_FIELDS.some((field) => before[field] !== after[field]);
    return revised ? { ...after, template_revision: before.template_revision + 1 } : after;
  },
};

function ownOf(base: Own): Own {
  const fields: Readonly<Record<string, unknown>> = { ...base };
  return { ...DEFAULTS, ...Object.fromEntries(Object.keys(DEFAULTS).map((field) => [field, fields[field]])) };
}

/** A trigger without what it needs would never start anything. */
function missingParts(fields: Readonly<Record<string, unknown>>): z.core.$ZodIssue[] {
  if (fields['kind'] !== 'trigger') return [];
  const schedule = fields['trigger_type'] === 'schedule';
  const needed = ['block_name', 'trigger_type', ...(schedule ? ['cron_expression'] : [])];
  return needed
    .filter((field) => isEmpty(fields[field]))
    .map((field) => ({ code: 'custom', path: [field], message: 'is missing; a trigger needs it', input: fields }));
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';
