import { Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Bundle } from '../bundle.ts';
import type { FunctionSettings } from '../functions.ts';
import type { StageSettings } from '../stages.ts';
import { acknowledge } from './acknowledge.ts';
import { logGroup } from './log-group.ts';

export interface ServiceFunctionProps {
  readonly stage: StageSettings;
  readonly settings: FunctionSettings;
  readonly bundle: Bundle;
  /** Where calls end up that failed for good; only for those that nobody waits for. */
  readonly undelivered: IQueue;
  /** Left out or null: none of its own, no limit of its own. */
  readonly reservedConcurrency?: number | null;
}

/** One entry point of `functions/`: a role of its own that may log and trace, and nothing else until something is granted. */
export class ServiceFunction extends Construct {
  readonly function: LambdaFunction;
  readonly logs: LogGroup;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { stage, settings, bundle } = props;
    const asynchronous = settings.asynchronous === true;
    this.logs = logGroup(this, 'Logs', stage);
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logs.grantWrite(role);
    this.function = new LambdaFunction(this, 'Function', {
      description: settings.description,
      code: Code.fromAsset(bundle.folder),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: settings.memory,
      timeout: Duration.seconds(settings.seconds),
      tracing: Tracing.ACTIVE,
      role,
      logGroup: this.logs,
      loggingFormat: LoggingFormat.TEXT,
      environment: { STAGE: stage.name, LOG_LEVEL: stage.logLevel, NODE_OPTIONS: '--enable-source-maps' },
      ...(props.reservedConcurrency == null ? {} : { reservedConcurrentExecutions: props.reservedConcurrency }),
      ...(asynchronous ? { onFailure: new SqsDestination(props.undelivered), retryAttempts: 2, maxEventAge: Duration.minutes(15) } : {}),
    });
    this.#acknowledge(asynchronous);
  }

  #acknowledge(asynchronous: boolean): void {
    acknowledge(this, {
      'AwsSolutions-IAM5[Resource::*]':
        'X-Ray has no resources that a permission could name: PutTraceSegments and PutTelemetryRecords only.',
      'Serverless-LambdaDLQ': asynchronous
        ? 'What fails for good goes to a failure destination, which says more than a dead-letter queue: with the error and the answer.'
        : 'Called by somebody who waits for the answer (gateway, workflow, function): a failure is theirs to handle.',
    });
  }
}
