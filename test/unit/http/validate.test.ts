import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { AppError, type Problem } from '../../../lib/app/errors.ts';
import { createBlock, createCluster } from '../../../lib/contracts/api/clusters.ts';
import { createConfig } from '../../../lib/contracts/api/configs.ts';
import { createOrganization } from '../../../lib/contracts/api/organizations.ts';
import { everyRoute } from '../../../lib/contracts/api/routes.ts';
import { updateSystemConfig } from '../../../lib/contracts/api/system-config.ts';
import { validated } from '../../../lib/http/validate.ts';

function problemsOf(schema: z.ZodType, value: unknown): readonly Problem[] {
  try {
    validated(schema, value);
    return [];
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return error.problems;
    throw error;
  }
}
const codes = (schema: z.ZodType, value: unknown) => problemsOf(schema, value).map(({ attr, code }) => [attr, code]);

describe('each mistake is named with its field and the code of the reference', () => {
  const organization = { name: 'acme' };
  const config = { kind: 'trigger' };
  test.each<[string, z.ZodType, unknown, [string | null, string][]]>([
    ['a missing field', createOrganization, {}, [['name', 'required']]],
    ['null', createOrganization, { name: null }, [['name', 'null']]],
    ['another kind', createOrganization, { name: 7 }, [['name', 'invalid']]],
    ['not a list', createOrganization, { ...organization, contacts: 'a@b.example' }, [['contacts', 'not_a_list']]],
    ['a place in a list', createOrganization, { ...organization, contacts: ['a@b.example', 'nobody'] }, [['contacts.1', 'invalid']]],
    ['a choice', createOrganization, { ...organization, criticality: 'tier-1' }, [['criticality', 'invalid_choice']]],
    ['a choice of two', createConfig, { ...config, trigger_type: 'cron' }, [['trigger_type', 'invalid_choice']]],
    ['a number for a choice', createConfig, { ...config, trigger_type: 5 }, [['trigger_type', 'invalid_choice']]],
    ['null for a choice', createConfig, { kind: null }, [['kind', 'null']]],
    ['a missing choice', z.object({ role: z.enum(['admin', 'member']) }), {}, [['role', 'required']]],
    ['an unknown field', createOrganization, { ...organization, criticalty: 'high' }, [['criticalty', 'invalid']]],
    [
      'a nested unknown field',
      createCluster,
      { name: 'c', workspace: ID(), rollout_override: { pause: true } },
      [['rollout_override.pause', 'invalid']],
    ],
    ['a bad id', createBlock, { name: 'b', workspace: 'prod' }, [['workspace', 'invalid']]],
    ['10%', createConfig, { ...config, max_concurrent_percent: '10%' }, [['max_concurrent_percent', 'invalid']]],
    ['12.5', createConfig, { ...config, max_concurrent_percent: 12.5 }, [['max_concurrent_percent', 'invalid']]],
    ['0 of 1–100', createConfig, { ...config, max_concurrent_percent: 0 }, [['max_concurrent_percent', 'min_value']]],
    ['101 of 0–100', createConfig, { ...config, failure_threshold_percent: 101 }, [['failure_threshold_percent', 'max_value']]],
    ['an empty version', createConfig, { ...config, target_version: '' }, [['target_version', 'blank']]],
    ['a long text', createConfig, { ...config, enqueue_reason: 'x'.repeat(501) }, [['enqueue_reason', 'max_length']]],
    ['a setting in percent', updateSystemConfig, { OPERATOR_ROLLOUT_PERCENTAGE: '10%' }, [['OPERATOR_ROLLOUT_PERCENTAGE', 'invalid']]],
    ['a setting without value', updateSystemConfig, { OPERATOR_ROLLOUT_PERCENTAGE: null }, [['OPERATOR_ROLLOUT_PERCENTAGE', 'null']]],
    ['a mistyped setting', updateSystemConfig, { OPERATOR_ROLLOUT_PERCENT: 10 }, [['OPERATOR_ROLLOUT_PERCENT', 'invalid']]],
    ['not an object', createOrganization, ['acme'], [[null, 'invalid']]],
    [
      'two mistakes',
      createOrganization,
      { criticality: 'x' },
      [
        ['name', 'required'],
        ['criticality', 'invalid_choice'],
      ],
    ],
  ])('%s', (_, schema, value, expected) => {
    expect(codes(schema, value).sort()).toEqual(expected.sort());
  });

  test('"0" and 0 are both a whole number of a setting', () => {
    expect(validated(updateSystemConfig, { OPERATOR_ROLLOUT_PERCENTAGE: '0' })).toEqual({ OPERATOR_ROLLOUT_PERCENTAGE: 0 });
  });

  test('what the service owns is dropped from a request, whatever it holds', () => {
    expect(validated(createOrganization, { name: 'acme', id: 'x', url: 7, created_at: null, effective_criticality: 'high' })).toEqual({
      name: 'acme',
    });
  });
});

describe('no body makes a schema throw anything but a refusal, and each refusal is a sentence', () => {
  const schemas = everyRoute().flatMap(({ operation, spec }) =>
    spec.request === undefined || spec.request === 'raw' ? [] : [[operation, spec.request] as const],
  );
  test.each(schemas)('%s', (_, schema) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        for (const { code, detail } of problemsOf(schema, value)) {
          expect(code).toMatch(/^[a-z_]+$/);
          expect(detail).toMatch(/[.!?)]$/);
          expect(detail).not.toMatch(/^(Invalid|Unrecognized|Too )/);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function ID(): string {
  return '018f3b1e-7c00-7abc-8def-0123456789ab';
}
