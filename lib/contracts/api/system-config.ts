import * as z from 'zod';
import { jsonValue } from './common.ts';

/** SPEC §1: SystemConfig. A flat object; keys that are not known here are free ones for templates. */

/** A whole number or its decimal text ("0"); never "10%", 12.5, null. */
const whole = (min: number, max: number) =>
  z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,10}$/)
          .transform(Number),
      ],
      {
        error: (issue) => (issue.input === null ? undefined : `must be a whole number from ${min} to ${max}`),
      },
    )
    .pipe(z.number().int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max });

const DAYS_10_YEARS = 3650;
const WEEK_SECONDS = 604_800;

export const NUMBERS = {
  OPERATOR_ROLLOUT_PERCENTAGE: whole(0, 100),
  AGENT_REPORT_INTERVAL_SECONDS: whole(1, 3600),
  AGENT_WARNING_AFTER_SECONDS: whole(1, WEEK_SECONDS),
  AGENT_CRITICAL_AFTER_SECONDS: whole(1, WEEK_SECONDS),
  RESYNC_MINUTES: whole(1, 10_080),
  RETENTION_DAYS: whole(1, DAYS_10_YEARS),
  AUDIT_RETENTION_DAYS: whole(1, DAYS_10_YEARS),
} as const;

const known = {
  OPERATOR_BLOCK_VERSION: z.string().min(1, 'must not be empty').max(100).exactOptional(),
  OPERATOR_ROLLOUT_PERCENTAGE: NUMBERS.OPERATOR_ROLLOUT_PERCENTAGE.exactOptional(),
  AGENT_REPORT_INTERVAL_SECONDS: NUMBERS.AGENT_REPORT_INTERVAL_SECONDS.exactOptional(),
  AGENT_WARNING_AFTER_SECONDS: NUMBERS.AGENT_WARNING_AFTER_SECONDS.exactOptional(),
  AGENT_CRITICAL_AFTER_SECONDS: NUMBERS.AGENT_CRITICAL_AFTER_SECONDS.exactOptional(),
  RESYNC_MINUTES: NUMBERS.RESYNC_MINUTES.exactOptional(),
  RETENTION_DAYS: NUMBERS.RETENTION_DAYS.exactOptional(),
  AUDIT_RETENTION_DAYS: NUMBERS.AUDIT_RETENTION_DAYS.exactOptional(),
  /** Nothing starts in any wave while it is set; nothing bypasses it. */
  ROLLOUTS_PAUSED: z
    .strictObject({ reason: z.string().min(1).max(500) })
    .nullable()
    .exactOptional(),
  /** Not a key: lets this change lower OPERATOR_BLOCK_VERSION on clusters that have a newer one. */
  allow_downgrade: z.boolean().exactOptional(),
  /** Not a key: the number of clusters that the change is meant for. */
  expected_targets: z.number().int().min(0).exactOptional(),
};

const FREE_KEY = /^[A-Za-z][A-Za-z0-9_]{0,99}$/;
const OURS = /^(OPERATOR|AGENT|ROLLOUTS?|RESYNC|RETENTION|AUDIT)_/;

/** A mistyped key of ours would otherwise become a free key that nothing reads. */
function keyProblem(key: string): string | null {
  if (!FREE_KEY.test(key)) return 'is not a possible key: letters, digits and _, beginning with a letter, at most 100';
  if (OURS.test(key)) return `is not a key of SystemConfig; there are: ${Object.keys(known).join(', ')} (free keys need another beginning)`;
  return null;
}

export const updateSystemConfig = z
  .object(known)
  .catchall(jsonValue)
  .check((ctx) => {
    for (const key of Object.keys(ctx.value)) {
      const problem = Object.hasOwn(known, key) ? null : keyProblem(key);
      if (problem !== null) ctx.issues.push({ code: 'custom', message: problem, path: [key], input: ctx.value[key] });
    }
  })
  .meta({ id: 'UpdateSystemConfig' });

export const systemConfig = z
  .object({
    OPERATOR_BLOCK_VERSION: z.string().nullable(),
    OPERATOR_ROLLOUT_PERCENTAGE: z.number().int(),
    AGENT_REPORT_INTERVAL_SECONDS: z.number().int(),
    AGENT_WARNING_AFTER_SECONDS: z.number().int(),
    AGENT_CRITICAL_AFTER_SECONDS: z.number().int(),
    RESYNC_MINUTES: z.number().int(),
    RETENTION_DAYS: z.number().int(),
    AUDIT_RETENTION_DAYS: z.number().int(),
    ROLLOUTS_PAUSED: z.object({ reason: z.string() }).nullable(),
  })
  .catchall(jsonValue)
  .meta({ id: 'SystemConfig' });

export const systemConfigWritten = z
  .object({ status: z.literal('success'), updated_keys: z.array(z.string()), targets_in_scope: z.number().int() })
  .meta({ id: 'SystemConfigWritten' });
