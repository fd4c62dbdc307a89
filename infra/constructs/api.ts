import { Duration } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { type CfnStage, HttpApi, HttpMethod, HttpNoneAuthorizer, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages.ts';
import { acknowledge } from './acknowledge.ts';
import type { Functions } from './functions.ts';
import { logGroup } from './log-group.ts';

const AGENTS = '/api/v1/agent/{proxy+}';
const REST = '/api/v1/{proxy+}';
/** What anybody may ask. To the gateway, a path with a final slash is another one, which the CDK refuses: that one asks for a key, whichever. */
const PUBLIC = ['/api/v1/health', '/api/v1/schema'];

/** One line of JSON per request; no header and no body, so no key. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    time: '$context.requestTimeEpoch',
    request: '$context.requestId',
    ip: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    path: '$context.path',
    route: '$context.routeKey',
    status: '$context.status',
    bytes: '$context.responseLength',
    milliseconds: '$context.responseLatency',
    integration_status: '$context.integrationStatus',
    integration_error: '$context.integrationErrorMessage',
    authorizer_error: '$context.authorizer.error',
  }),
);

export interface ApiProps {
  readonly stage: StageSettings;
  readonly functions: Functions;
}

/** The HTTP API (DESIGN §6): agents by themselves, everybody else through the authorizer, two routes for anybody. */
export class Api extends Construct {
  readonly api: HttpApi;
  readonly url: string;

  constructor(scope: Construct, id: string, { stage, functions }: ApiProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'HttpApi', { description: `Block Rollout (${stage.name})`, createDefaultStage: false });
    this.#routes(functions);
    this.url = this.#stage(stage).url;
  }

  #routes(functions: Functions): void {
    const people = new HttpLambdaIntegration('ApiIntegration', functions.of('api'));
    const agents = new HttpLambdaIntegration('AgentIntegration', functions.of('agent-api'));
    const authorizer = new HttpLambdaAuthorizer('Authorizer', functions.of('authorizer'), {
      responseTypes: [HttpLambdaResponseType.SIMPLE],
      identitySource: ['$request.header.Authorization'],
      resultsCacheTtl: Duration.seconds(60),
    });
    this.api.addRoutes({ path: REST, methods: [HttpMethod.ANY], integration: people, authorizer });
    const open = [
      ...this.api.addRoutes({ path: AGENTS, methods: [HttpMethod.ANY], integration: agents, authorizer: new HttpNoneAuthorizer() }),
    ];
    for (const route of open)
      acknowledge(route, { 'AwsSolutions-APIG4': 'Agents prove their key in each call: the heartbeat’s own write does.' });
    for (const path of PUBLIC)
      for (const route of this.api.addRoutes({
        path,
        methods: [HttpMethod.GET],
        integration: people,
        authorizer: new HttpNoneAuthorizer(),
      }))
        acknowledge(route, { 'AwsSolutions-APIG4': 'Says only that the API is up, or what it can do.' });
  }

  #stage(stage: StageSettings): HttpStage {
    const made = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: stage.apiThrottle.rate, burstLimit: stage.apiThrottle.burst },
      accessLogSettings: { destination: new LogGroupLogDestination(logGroup(this, 'AccessLogs', stage)), format: ACCESS_LOG },
    });
    const { rate, burst } = stage.agentThrottle;
    const resource = made.node.defaultChild as CfnStage;
    resource.routeSettings = { [`ANY ${AGENTS}`]: { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } };
    // The settings name routes, which must be there first.
    for (const route of this.api.node.findAll().filter((child) => child.node.path.includes('{proxy+}'))) resource.node.addDependency(route);
    return made;
  }
}
