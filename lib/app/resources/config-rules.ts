import { parseSelector } from '../../domain/demand/scope.ts';
import { parseCron } from '../../domain/recurrence/cron.ts';
import { timeZoneProblem } from '../../domain/recurrence/zone.ts';
import type { BlockRolloutConfig, Limits } from '../../domain/shared/rollout.ts';
import type { Problem } from '../errors.ts';

/** SPEC §1, §2: what makes one config right by itself; ranges of single fields are the API schema's. */

type Rule = (config: Omit<BlockRolloutConfig, 'version'>) => Problem | null;

const problem = (attr: string, detail: string, code = 'invalid'): Problem => ({ code, detail, attr });

const LIMITS = [
  'max_concurrent_percent',
  'failure_threshold_percent',
  'max_retries',
  'retry_base_seconds',
  'action_timeout_seconds',
  'quiescence_seconds',
] as const satisfies readonly (keyof Limits)[];

/** Every trigger config inherits from it, so it has nobody to inherit from (SPEC §1). */
const limitsOfSystemConfig = LIMITS.map(
  (field): Rule =>
    (config) =>
      config.kind === 'config' && config.is_system_config && config[field] === null
        ? problem(field, 'must be a number on the system config: trigger configs inherit it.', 'null')
        : null,
);

const RULES: readonly Rule[] = [
  (c) =>
    c.kind === 'trigger' && c.block_name === null
      ? problem('block_name', 'is required on a trigger config: the block to roll out.', 'required')
      : null,
  (c) =>
    c.kind === 'trigger' && c.trigger_type === null
      ? problem('trigger_type', 'is required on a trigger config: reconciliation or schedule.', 'required')
      : null,
  (c) =>
    c.kind === 'trigger' && c.trigger_type === 'reconciliation' && c.action_name !== 'install' && c.action_name !== 'uninstall'
      ? problem('action_name', `Reconciliation knows install and uninstall only; "${c.action_name}" can run by schedule or by hand.`)
      : null,
  cron,
  (c) => {
    const zone = timeZoneProblem(c.time_zone);
    return zone === null ? null : problem('time_zone', zone);
  },
  (c) => (c.target_version !== null && c.target_version.trim() === '' ? problem('target_version', 'must not be empty.', 'blank') : null),
  (c) =>
    c.block_config_template === null || c.kind === 'trigger' ? null : problem('block_config_template', 'belongs on a trigger config.'),
  ...limitsOfSystemConfig,
];

function cron(config: Omit<BlockRolloutConfig, 'version'>): Problem | null {
  const { trigger_type, cron_expression } = config;
  if (cron_expression === null)
    return trigger_type === 'schedule' ? problem('cron_expression', 'is required for a schedule.', 'required') : null;
  const parsed = parseCron(cron_expression);
  return parsed.ok ? null : problem('cron_expression', parsed.field === 'expression' ? parsed.reason : `${parsed.field}: ${parsed.reason}`);
}

function scopeProblems(config: Omit<BlockRolloutConfig, 'version'>): Problem[] {
  return config.scope_expressions.flatMap((text, index) => {
    const parsed = parseSelector(text);
    return parsed.ok ? [] : [problem(`scope_expressions.${index}`, `"${text}", character ${parsed.position}: ${parsed.reason}`)];
  });
}

export function configProblems(config: Omit<BlockRolloutConfig, 'version'>): Problem[] {
  return [...RULES.flatMap((rule) => rule(config) ?? []), ...scopeProblems(config)];
}
