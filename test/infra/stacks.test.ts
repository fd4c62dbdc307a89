import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { beforeAll, describe, expect, test } from 'vitest';
import { WORKFLOW_ROLES } from '../../infra/functions.ts';
import { STAGES, stageNamed } from '../../infra/stages.ts';
import { tableDefinition } from '../../lib/adapters/dynamodb/table.ts';
import { WORKFLOW_FUNCTIONS } from '../../local/engine.ts';
import { definitionHash } from '../../local/local-asl.ts';
import { ofType, synthesize, type TemplateResource } from '../../scripts/docs/deployed.ts';

let made: Awaited<ReturnType<typeof synthesize>>;
beforeAll(async () => {
  made = await synthesize(STAGES.prod);
}, 120_000);

const one = (template: 'data' | 'service', type: string): TemplateResource => {
  const found = ofType(made[template], type);
  expect(found).toHaveLength(1);
  return (found[0] as [string, TemplateResource])[1];
};

describe('what holds state', () => {
  test('keeps its logical ids: another id is another table', () => {
    expect(Object.keys(made.data.Resources).sort()).toEqual(['CredentialsKeyA24B74BF', 'DataTableFDBAD0F2']);
  });

  test('the table is the one that the local runtime makes, with recovery, protection and expiry, and without a stream', () => {
    const { Properties, DeletionPolicy, UpdateReplacePolicy } = one('data', 'AWS::DynamoDB::GlobalTable');
    const local = tableDefinition('x');
    expect(Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: local.KeySchema,
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
    });
    expect(Properties['AttributeDefinitions']).toEqual(expect.arrayContaining(local.AttributeDefinitions ?? []));
    expect(Properties['AttributeDefinitions']).toHaveLength(local.AttributeDefinitions?.length ?? 0);
    expect(Properties['GlobalSecondaryIndexes']).toEqual(local.GlobalSecondaryIndexes);
    expect(Properties).not.toHaveProperty('StreamSpecification');
    expect(Properties).not.toHaveProperty('TableName');
    const [replica, ...more] = Properties['Replicas'] as object[];
    expect(more).toEqual([]);
    expect(replica).toMatchObject({
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    });
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
  });

  test('the key of credentials rotates and stays', () => {
    const key = one('data', 'AWS::KMS::Key');
    expect(key).toMatchObject({ Properties: { EnableKeyRotation: true }, DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  test('both stacks of a stage that keeps its data refuse to be deleted', () => {
    expect(Object.values(made.stacks).map((stack) => stack.terminationProtection)).toEqual([true, true]);
  });
});

describe('everything else', () => {
  test('every log group is kept for the time of the stage and goes with its stack', () => {
    const groups = ofType(made.service, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(Object.keys(ofFunctions()).length + 3);
    for (const [id, group] of groups) {
      expect(group.Properties['RetentionInDays'], id).toBe(STAGES.prod.logRetention);
      expect([group.DeletionPolicy, group.UpdateReplacePolicy], id).toEqual(['Delete', 'Delete']);
    }
  });

  test('nothing has a name of ours but the two state machines, and there are no parameters or conditions', () => {
    const named = Object.entries({ ...made.data.Resources, ...made.service.Resources }).flatMap(([id, { Type, Properties = {} }]) => {
      const names = [
        'TableName',
        'FunctionName',
        'QueueName',
        'TopicName',
        'RoleName',
        'LogGroupName',
        'StateMachineName',
        'AliasName',
        'BucketName',
        'RuleName',
      ];
      return names
        .filter((name) => name in Properties && !(Type.startsWith('AWS::Lambda::') && Type !== 'AWS::Lambda::Function'))
        .map((name) => `${made.paths.get(id)} ${name}`);
    });
    expect(named).toEqual(['Workflows/wave StateMachineName', 'Workflows/enqueue StateMachineName']);
    for (const template of [made.data, made.service]) {
      expect(Object.keys((template as { Parameters?: object }).Parameters ?? {})).toEqual(['BootstrapVersion']);
      expect(template).not.toHaveProperty('Conditions');
    }
  });

  test('no custom resource and no bucket: an emulator without them can deploy it', () => {
    const types = new Set(Object.values(made.service.Resources).map((r) => r.Type));
    expect(
      [...types].filter(
        (type) => type.startsWith('Custom::') || type === 'AWS::CloudFormation::CustomResource' || type.startsWith('AWS::S3::'),
      ),
    ).toEqual([]);
  });

  test('outputs say what a person needs next', () => {
    expect(Object.keys(made.service.Outputs ?? {}).sort()).toEqual([
      'ApiUrl',
      'Dashboard',
      'EnqueueMachineConsole',
      'FirstAdminKey',
      'NoticesTopic',
      'TableName',
      'WaveMachineConsole',
    ]);
    expect(JSON.stringify(made.service.Outputs?.['FirstAdminKey']?.Value)).toContain('npm run admin-key -- --table ');
  });

  test('the topic of notices is encrypted and takes nothing without TLS', () => {
    expect(one('service', 'AWS::SNS::Topic').Properties).toHaveProperty('KmsMasterKeyId');
    expect(JSON.stringify(one('service', 'AWS::SNS::TopicPolicy').Properties)).toContain('"aws:SecureTransport":"false"');
  });
});

/** Functions by the names of their folders. */
function ofFunctions(): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    ofType(made.service, 'AWS::Lambda::Function').map(([id, { Properties }]) => [made.paths.get(id)?.split('/')[1] ?? id, Properties]),
  );
}

describe('functions', () => {
  test('run on Node 24 and arm64, traced, with a role and a log group of their own', () => {
    const functions = Object.values(ofFunctions());
    for (const fn of functions)
      expect(fn).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        Handler: 'index.handler',
      });
    for (const part of ['Role', 'LoggingConfig'])
      expect(new Set(functions.map((fn) => JSON.stringify(fn[part]))).size).toBe(functions.length);
  });

  test('end before those who wait for them give up', () => {
    for (const [name, fn] of Object.entries(ofFunctions())) expect(fn['Timeout'], name).toBeLessThanOrEqual(name === 'tick' ? 55 : 29);
  });

  test('agents have processes of their own in a stage that reserves them', () => {
    const reserved = Object.entries(ofFunctions()).filter(([, fn]) => 'ReservedConcurrentExecutions' in fn);
    expect(reserved.map(([name]) => name)).toEqual(['agent-api']);
  });

  test('what is called without anybody who waits has somewhere to leave what failed', () => {
    const configs = ofType(made.service, 'AWS::Lambda::EventInvokeConfig').map(([id, { Properties }]) => {
      expect(Properties).toMatchObject({ DestinationConfig: { OnFailure: { Destination: expect.anything() } } });
      return made.paths.get(id)?.split('/')[1];
    });
    expect(configs.sort()).toEqual(['execution-watch', 'outbox', 'tick', 'trigger']);
  });
});

describe('the API', () => {
  test('has the routes of the design, with the authorizer where people call', () => {
    const routes = ofType(made.service, 'AWS::ApiGatewayV2::Route').map(([, { Properties: p }]) => [p['RouteKey'], p['AuthorizationType']]);
    expect(Object.fromEntries(routes)).toEqual({
      'ANY /api/v1/agent/{proxy+}': 'NONE',
      'ANY /api/v1/{proxy+}': 'CUSTOM',
      'GET /api/v1/health': 'NONE',
      'GET /api/v1/schema': 'NONE',
    });
  });

  test('asks the authorizer once a minute for each key, for a simple answer', () => {
    expect(one('service', 'AWS::ApiGatewayV2::Authorizer').Properties).toMatchObject({
      AuthorizerType: 'REQUEST',
      AuthorizerPayloadFormatVersion: '2.0',
      EnableSimpleResponses: true,
      AuthorizerResultTtlInSeconds: 60,
      IdentitySource: ['$request.header.Authorization'],
    });
  });

  test('throttles people and agents apart, and logs each request as JSON without its key', () => {
    const stage = one('service', 'AWS::ApiGatewayV2::Stage').Properties as Record<string, Record<string, unknown>>;
    expect(stage['DefaultRouteSettings']).toEqual({ ThrottlingRateLimit: 200, ThrottlingBurstLimit: 400 });
    expect(stage['RouteSettings']).toEqual({ 'ANY /api/v1/agent/{proxy+}': { ThrottlingRateLimit: 2_000, ThrottlingBurstLimit: 4_000 } });
    const format = String(stage['AccessLogSettings']?.['Format']);
    expect(Object.keys(JSON.parse(format) as object)).toContain('route');
    expect(format.toLowerCase()).not.toContain('authorization');
  });
});

describe('schedules and rules', () => {
  test('the tick comes each minute, on time or not at all', () => {
    expect(one('service', 'AWS::Scheduler::Schedule').Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      GroupName: expect.anything(),
      Target: { RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 }, DeadLetterConfig: { Arn: expect.anything() } },
    });
  });

  test('execution-watch hears of every execution that ended badly, and of no other', () => {
    const rule = one('service', 'AWS::Events::Rule').Properties as {
      EventPattern: { detail: Record<string, unknown[]> };
      Targets: object[];
    };
    expect(rule.EventPattern).toMatchObject({ source: ['aws.states'], 'detail-type': ['Step Functions Execution Status Change'] });
    expect(rule.EventPattern.detail['status']).toEqual(['FAILED', 'TIMED_OUT', 'ABORTED']);
    expect(rule.EventPattern.detail['stateMachineArn']).toHaveLength(2);
    expect(rule.Targets).toMatchObject([{ DeadLetterConfig: { Arn: expect.anything() } }]);
  });
});

describe('state machines', () => {
  const machines = (): Record<string, Record<string, unknown>> =>
    Object.fromEntries(
      ofType(made.service, 'AWS::StepFunctions::StateMachine').map(([id, { Properties }]) => [
        made.paths.get(id)?.split('/')[1],
        Properties,
      ]),
    );

  test('every substitution of the files resolves, and none is left over', () => {
    for (const [name, properties] of Object.entries(machines())) {
      const text = String(properties['DefinitionString']);
      const used = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map((match) => match[1]));
      expect(Object.keys(properties['DefinitionSubstitutions'] as object).sort(), name).toEqual([...used].sort());
    }
  });

  test('each role is wired to the function that the local engine calls, each to another', () => {
    const wired = Object.values(machines()).flatMap((properties) =>
      Object.entries(properties['DefinitionSubstitutions'] as Record<string, { 'Fn::GetAtt'?: [string] }>).flatMap(([role, value]) => {
        const id = value['Fn::GetAtt']?.[0];
        return id === undefined ? [] : [[role, made.paths.get(id)?.split('/')[1]] as const];
      }),
    );
    expect(Object.fromEntries(wired)).toEqual(WORKFLOW_FUNCTIONS);
    expect(WORKFLOW_ROLES).toEqual(WORKFLOW_FUNCTIONS);
    expect(new Set(Object.values(WORKFLOW_ROLES)).size).toBe(Object.keys(WORKFLOW_ROLES).length);
  });

  test('every task has a timeout, retries and, itself or in the map around it, a catch', () => {
    let tasks = 0;
    const look = (states: Record<string, Record<string, unknown>>, caught: boolean): void => {
      for (const [name, state] of Object.entries(states)) {
        const inner = state['ItemProcessor'] as { States: Record<string, Record<string, unknown>> } | undefined;
        if (inner !== undefined) look(inner.States, 'Catch' in state);
        if (state['Type'] !== 'Task') continue;
        tasks += 1;
        expect('TimeoutSeconds' in state || 'TimeoutSecondsPath' in state, name).toBe(true);
        expect(state, name).toHaveProperty('Retry');
        expect(caught || 'Catch' in state, name).toBe(true);
      }
    };
    for (const properties of Object.values(machines()))
      look((JSON.parse(String(properties['DefinitionString'])) as { States: Record<string, Record<string, unknown>> }).States, false);
    expect(tasks).toBe(10);
  });

  test('log every event without the data of the states, and are traced', () => {
    for (const properties of Object.values(machines()))
      expect(properties).toMatchObject({
        StateMachineType: 'STANDARD',
        LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
        TracingConfiguration: { Enabled: true },
      });
  });

  test('executions carry the version that the function knows', () => {
    expect(ofFunctions()['wave-plan']).toMatchObject({ Environment: { Variables: { WAVE_DEFINITION: definitionHash() } } });
    expect(machines()['wave']?.['DefinitionSubstitutions']).toMatchObject({ DefinitionHash: definitionHash() });
  });
});

describe('the rule packs', () => {
  /** Reasons by rule, from the whole tree. A new one shows here. */
  function acknowledged(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const node of made.app.node.findAll() as IConstruct[])
      for (const entry of node.node.metadata.filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY))
        for (const [id, reason] of Object.entries(entry.data as Record<string, string>)) {
          expect(reason.length, id).toBeGreaterThan(20);
          const rule = id.replace(/^annotation::/i, '').replace(/schedule\/.*/, 'schedule/<group>/*]');
          counts[rule] = (counts[rule] ?? 0) + 1;
        }
    return counts;
  }

  // A finding that nobody acknowledged makes the synthesis fail, so that this file would not come as far as here.
  test('have nothing to say but what was acknowledged', () => {
    const functions = Object.keys(ofFunctions()).length;
    expect(acknowledged()).toEqual({
      'AwsSolutions-APIG4': 3,
      'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]': 1,
      'AwsSolutions-IAM5[Resource::*]': functions + 2,
      'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<group>/*]': 2,
      'AwsSolutions-SQS3': 1,
      'Serverless-LambdaDLQ': functions,
      'Serverless-SQSRedrivePolicy': 1,
    });
  });
});

describe('stages', () => {
  test('the same commit is the same template', async () => {
    const again = await synthesize(STAGES.prod);
    expect(again.service).toEqual(made.service);
    expect(again.data).toEqual(made.data);
  });

  test('a wrong name is refused with those that there are', () => {
    expect(() => stageNamed('production')).toThrow('There is no stage "production". STAGE may be dev, prod, local.');
  });

  test('the templates are those that were looked at (npx vitest run --project infra -u after looking at the difference)', () => {
    const masked = (template: object) =>
      JSON.parse(
        JSON.stringify(template)
          .replaceAll(/[0-9a-f]{64}(?=\.zip)/g, '<hash of the code>')
          .replaceAll(definitionHash(), '<hash of the definition>'),
      ) as object;
    expect(masked({ data: made.data, service: withoutDefinitions() })).toMatchSnapshot();
  });

  /** The definitions are files of their own. */
  function withoutDefinitions(): object {
    return JSON.parse(JSON.stringify(made.service, (key, value: unknown) => (key === 'DefinitionString' ? '<the file>' : value))) as object;
  }
});
