import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKFLOW_ROLES } from '../../infra/functions.ts';
import { STAGES } from '../../infra/stages.ts';
import { localTelemetry } from '../../lib/adapters/observability/telemetry.ts';
import { namedRoutes } from '../../lib/contracts/api/route.ts';
import { apiRoutes } from '../../lib/contracts/api/routes.ts';
import { NEEDS } from '../../lib/lambda/environment.ts';
import { render } from '../../local/functions.ts';
import { routesOf } from '../../local/routes.ts';
import { type Runtime, startRuntime } from '../../local/runtime.ts';
import type { Scheduled } from '../../local/scheduler.ts';
import { ofType, synthesize } from '../../scripts/docs/deployed.ts';
import { allowedTo, permissionTable, withPermissions } from '../../scripts/docs/permissions.ts';

let made: Awaited<ReturnType<typeof synthesize>>;
beforeAll(async () => {
  made = await synthesize(STAGES.prod);
}, 120_000);

const TABLE = ['read table', 'write table'];

/** Least privilege, said a second time by hand (DESIGN §6): whoever gives a function more has to change this list, too. */
const EXPECTED: Record<string, string[]> = {
  'agent-api': [...TABLE, 'wake waves', 'trigger', 'outbox'],
  api: [...TABLE, 'start waves', 'start enqueue runs', 'wake waves', 'keep schedules', 'outbox', 'render'],
  authorizer: ['access keys only'],
  'wave-plan': [...TABLE, 'start waves', 'start enqueue runs', 'wake waves', 'outbox'],
  'wave-dispatch': TABLE,
  'wave-await': [...TABLE, 'wake waves'],
  'wave-end': [],
  'enqueue-plan': ['read table'],
  'enqueue-page': [...TABLE, 'outbox', 'render'],
  trigger: [...TABLE, 'start enqueue runs'],
  tick: [...TABLE, 'start waves', 'start enqueue runs', 'wake waves', 'keep schedules', 'outbox', 'render'],
  'execution-watch': [...TABLE, 'start waves', 'start enqueue runs'],
  outbox: [...TABLE, 'publish notices'],
  render: [],
};

describe('who may do what', () => {
  test('is what the list says, and nothing that the list does not know', () => {
    expect(permissionTable(made)).toEqual(EXPECTED);
  });

  test('is what docs/architecture.md shows', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    expect(page, 'docs/architecture.md: run `npm run gen` and commit it').toBe(withPermissions(page, made));
  });

  test.each(['wave', 'enqueue'])('the machine %s may invoke the functions that its file names, and no other', (machine) => {
    const file = readFileSync(`infra/workflows/${machine}.asl.json`, 'utf8');
    const named = Object.entries(WORKFLOW_ROLES).flatMap(([role, name]) => (file.includes(`\${${role}}`) ? [name] : []));
    const invoked = allowedTo(made, `Workflows/${machine}/Role`).filter((allowed) => allowed.startsWith('lambda:'));
    expect(new Set(invoked)).toEqual(new Set(named.map((name) => `lambda:InvokeFunction on ${name}`)));
  });

  test('schedules may invoke the tick and the trigger, and hand over what was not delivered', () => {
    const allowed = new Set(allowedTo(made, 'Schedules/Role').filter((a) => !a.startsWith('sqs:Get')));
    expect([...allowed].sort()).toEqual([
      'lambda:InvokeFunction on tick',
      'lambda:InvokeFunction on trigger',
      'sqs:SendMessage on Undelivered/Queue',
    ]);
  });

  test('only the scheduler, for our own group, assumes their role', () => {
    const [, role] = Object.entries(made.service.Resources).find(([id]) => made.paths.get(id) === 'Schedules/Role') ?? [];
    expect((role?.Properties['AssumeRolePolicyDocument'] as { Statement: unknown[] } | undefined)?.Statement).toEqual([
      {
        Action: 'sts:AssumeRole',
        Effect: 'Allow',
        Principal: { Service: 'scheduler.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': expect.anything(), 'aws:SourceArn': expect.anything() } },
      },
    ]);
  });

  test('the wildcards are these', () => {
    const roles = [...made.paths.values()].filter((path) => path.endsWith('/Role'));
    const wild = roles.flatMap((role) => allowedTo(made, role).filter((allowed) => / on .*\*|^\S*\*/.test(allowed.split(' if ')[0] ?? '')));
    expect([...new Set(wild)].sort()).toEqual([
      'kms:GenerateDataKey* on Notices/Key',
      'logs:CreateLogDelivery on *',
      'logs:DeleteLogDelivery on *',
      'logs:DescribeLogGroups on *',
      'logs:DescribeResourcePolicies on *',
      'logs:GetLogDelivery on *',
      'logs:ListLogDeliveries on *',
      'logs:PutResourcePolicy on *',
      'logs:UpdateLogDelivery on *',
      'xray:GetSamplingRules on *',
      'xray:GetSamplingTargets on *',
      'xray:PutTelemetryRecords on *',
      'xray:PutTraceSegments on *',
    ]);
  });

  test('no role has a managed policy', () => {
    for (const [, role] of ofType(made.service, 'AWS::IAM::Role')) expect(role.Properties).not.toHaveProperty('ManagedPolicyArns');
  });
});

describe('what functions are told', () => {
  /** Names that are there for every function. */
  const COMMON = ['LOG_LEVEL', 'NODE_OPTIONS', 'STAGE'];

  test('is what they ask for at their cold start, and nothing else', () => {
    const told = ofType(made.service, 'AWS::Lambda::Function').map(([id, { Properties }]) => {
      const { Variables } = Properties['Environment'] as { Variables: Record<string, unknown> };
      return [
        made.paths.get(id)?.split('/')[1],
        Object.keys(Variables)
          .filter((name) => !COMMON.includes(name))
          .sort(),
      ];
    });
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(Object.entries(NEEDS).map(([name, needs]) => [name, [...needs].sort()])));
  });
});

describe('local/ stands for all of it', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await startRuntime({ memory: true, data: '', port: 0, virtualClock: Date.UTC(2026, 0, 1) });
  });
  afterAll(() => runtime.stop());

  const routes = () =>
    routesOf(
      runtime.services,
      localTelemetry(runtime.clock, () => undefined),
    );

  test('every function is called there, too', () => {
    const deployed = ofType(made.service, 'AWS::Lambda::Function').map(([id]) => made.paths.get(id)?.split('/')[1]);
    const behindRoutes = routes().flatMap((route) => [route.functionName, ...(route.authorizer === undefined ? [] : ['authorizer'])]);
    expect([...Object.keys(runtime.functions), ...behindRoutes, ...Object.keys({ render })].sort()).toEqual(deployed.sort());
  });

  test('every route is served there, with the authorizer where the gateway asks it; what anybody may ask goes through it', () => {
    const deployed = ofType(made.service, 'AWS::ApiGatewayV2::Route').map(([, { Properties: p }]) => [
      p['RouteKey'],
      p['AuthorizationType'] === 'CUSTOM',
    ]);
    const here = routes().map(({ routeKey, authorizer }) => [routeKey, authorizer !== undefined]);
    const forAnybody = namedRoutes(apiRoutes).filter(({ spec }) => spec.right === 'public');
    const open = forAnybody.map(({ spec }) => [`${spec.method} /api/v1/${spec.path}`, false]);
    expect(deployed.sort()).toEqual([...here, ...open].sort());
  });

  test('whatever a schedule calls is called at its minute', () => {
    const here = { tick: true, trigger: true } satisfies Record<keyof Scheduled, true>;
    const called = allowedTo(made, 'Schedules/Role').filter((allowed) => allowed.startsWith('lambda:'));
    expect(new Set(called)).toEqual(new Set(Object.keys(here).map((name) => `lambda:InvokeFunction on ${name}`)));
    expect(ofType(made.service, 'AWS::Scheduler::Schedule')).toHaveLength(1);
  });
});
