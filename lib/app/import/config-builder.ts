import type * as z from 'zod';
import { updateConfig } from '../../contracts/api/configs.ts';
import { CONFIG_DEFAULTS } from '../../domain/shared/defaults.ts';
import { type Json, OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { SEEDED_LIMITS } from '../engine/configs.ts';
import { newManaged } from '../managed.ts';
import { type ConfigOwn, configWith } from '../resources/config-fields.ts';
import { configProblems } from '../resources/config-rules.ts';
import type { ConfigBuilder } from './ports.ts';

/** What an entry of this name changes where it says nothing: the two seeded configs exist already (SPEC §1, §5). */
const SEEDED: Readonly<Record<string, Partial<ConfigOwn>>> = {
  defaults: { is_system_config: true, ...SEEDED_LIMITS },
  operator: { is_system_config: true, kind: 'trigger', trigger_type: 'reconciliation', block_name: OPERATOR_BLOCK },
};

/** Rollout configs of a fleet file: the API's fields, checked with the API's schema and rules. */
export const configBuilder: ConfigBuilder = {
  check(fields) {
    const parsed = updateConfig.safeParse(fields, { reportInput: true });
    if (!parsed.success) return parsed.error.issues;
    const { name = '', labels: _l, annotations: _a, display_name: _d, expected_targets, ...own } = parsed.data;
    const config = configWith({ ...CONFIG_DEFAULTS, ...SEEDED[name] }, own);
    const counted = expected_targets === undefined ? [] : [issue(['expected_targets'], 'belongs to a change by hand, not into a file')];
    const problems = configProblems({ ...newManaged({ id: '', name, now: 0 }), ...config });
    return [...counted, ...problems.map(({ attr, detail }) => issue(pathOf(attr ?? ''), detail))];
  },

  build(before, patch) {
    return configWith(before, before?.is_system_config === true ? withoutHoles(before, patch) : patch);
  },
};

/** `scope_expressions.0` */
const pathOf = (attr: string): (string | number)[] => attr.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));

const issue = (path: (string | number)[], message: string): z.core.$ZodIssue => ({ code: 'custom', path, message, input: undefined });

/** A seeded config keeps what it cannot be without, also when the file no longer speaks of it; its limits go back to the seeded ones. */
function withoutHoles(before: BlockRolloutConfig, patch: Readonly<Record<string, Json>>): Record<string, Json> {
  const defaults: Readonly<Record<string, unknown>> = CONFIG_DEFAULTS;
  const limits: Readonly<Record<string, number>> = before.kind === 'config' ? { ...SEEDED_LIMITS } : {};
  const entries = Object.entries(patch).map(([field, value]) => [field, value ?? limits[field] ?? null] as const);
  return Object.fromEntries(entries.filter(([field, value]) => value !== null || defaults[field] !== null));
}
