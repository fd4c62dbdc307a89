import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { describe, expect, test } from 'vitest';
import { alarmNames, alarmSettings } from '../../infra/alarms.ts';
import { articleOf, Monitoring } from '../../infra/constructs/monitoring.ts';
import { FUNCTIONS } from '../../infra/functions.ts';
import { METRIC_DIMENSION, METRIC_NAMESPACE, METRICS } from '../../lib/contracts/telemetry/metrics.ts';
import { COUNTED } from '../../scripts/docs/counted.ts';

interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly AlarmActions?: unknown[];
  readonly OKActions?: unknown[];
  readonly Metrics?: { readonly MetricStat?: { readonly Metric: AlarmMetric } }[];
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: { readonly Name: string; readonly Value: unknown }[];
  readonly TreatMissingData: string;
}
type AlarmMetric = Pick<AlarmProperties, 'Namespace' | 'MetricName' | 'Dimensions'>;

/** Alarms and dashboard on small stand-ins of what they look at. */
function monitored() {
  const stack = new Stack(new App({ analyticsReporting: false }), 'Service');
  const made = (name: string) =>
    new LambdaFunction(stack, name, { code: Code.fromInline('x'), handler: 'index.handler', runtime: Runtime.NODEJS_24_X });
  const topic = new Topic(stack, 'Topic');
  new Monitoring(stack, 'Monitoring', {
    topic,
    monitored: {
      stage: 'prod',
      table: new TableV2(stack, 'Table', { partitionKey: { name: 'pk', type: AttributeType.STRING } }),
      api: new HttpApi(stack, 'Api'),
      functions: new Map(Object.keys(FUNCTIONS).map((name) => [name, made(name)])),
      machines: [new StateMachine(stack, 'wave', { definitionBody: DefinitionBody.fromChainable(new Pass(stack, 'Pass')) })],
      undelivered: new Queue(stack, 'Undelivered'),
    },
  });
  const template = Template.fromStack(stack);
  const resources = Object.values(template.findResources('AWS::CloudWatch::Alarm')) as { Properties: AlarmProperties }[];
  return {
    template,
    alarms: resources.map(({ Properties }) => Properties),
    dashboards: template.findResources('AWS::CloudWatch::Dashboard'),
  };
}

const { template, alarms, dashboards } = monitored();
const runbook = readFileSync('docs/runbook.md', 'utf8');
const articles = runbook
  .split(/^## /m)
  .map((article) => ({ name: article.slice(0, article.indexOf('\n')), text: article }))
  .filter(({ name }) => /^[a-z]+(-[a-z]+)*$/.test(name));

describe('alarms and articles', () => {
  test('every alarm has its article, every article its alarm', () => {
    expect(articles.map(({ name }) => name).sort()).toEqual([...alarmNames].sort());
  });

  test.each(articles)('$name says what it means, where to look and what to do', ({ text }) => {
    for (const part of ['**It means:**', '**Look:**', '**Do:**']) expect(text).toContain(part);
  });

  test.each(alarmNames)('%s names its severity, what is wrong and its article, and tells somebody', (name) => {
    const [alarm, ...others] = alarms.filter(({ AlarmDescription }) => AlarmDescription.endsWith(articleOf(name)));
    expect(others).toEqual([]);
    const { severity, says } = alarmSettings(name);
    expect(alarm?.AlarmDescription).toBe(`[${severity}] ${says} What to do: ${articleOf(name)}`);
    expect([alarm?.AlarmActions, alarm?.OKActions].map((actions) => actions?.length)).toEqual([1, 1]);
  });

  test('alarms may publish to the topic, whose own policy would refuse them', () => {
    const allowed = { Action: 'sns:Publish', Effect: 'Allow', Principal: { Service: 'cloudwatch.amazonaws.com' } };
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(allowed)]) },
    });
  });

  test('each alarm of the list is deployed, once', () => {
    expect(alarms).toHaveLength(alarmNames.length);
  });
});

describe('what they look at', () => {
  const metricsOf = (alarm: AlarmProperties): AlarmMetric[] =>
    alarm.Metrics === undefined
      ? [alarm]
      : alarm.Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric]));

  test('our own numbers exist, in the dimension that the program writes', () => {
    const ours = alarms.flatMap(metricsOf).filter(({ Namespace }) => Namespace === METRIC_NAMESPACE);
    expect(ours.length).toBeGreaterThan(5);
    for (const { MetricName = '', Dimensions } of ours) {
      expect(METRICS).toHaveProperty(MetricName);
      expect(Dimensions).toEqual([{ Name: METRIC_DIMENSION, Value: 'prod' }]);
    }
  });

  test('no alarm adds up more than the ten metrics that CloudWatch allows', () => {
    for (const alarm of alarms) expect(metricsOf(alarm).length).toBeLessThanOrEqual(10);
  });

  test('are as many as docs/cost.md reckons with', () => {
    expect(alarms.flatMap(metricsOf)).toHaveLength(COUNTED.alarmMetrics);
  });

  test('only a tick that says nothing is bad news; a quiet night is none', () => {
    const bad = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching').map(({ AlarmDescription }) => AlarmDescription);
    expect(bad).toEqual([expect.stringContaining('tick-not-running')]);
  });

  test('every number of the program is on the dashboard, but those that only an alarm needs', () => {
    expect(Object.keys(dashboards)).toHaveLength(1);
    const shown = JSON.stringify(dashboards);
    const hidden = Object.keys(METRICS).filter((name) => !shown.includes(`\\"${name}\\"`));
    expect(hidden).toEqual(['Ticks', 'PlatformAlert']);
  });
});
