import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { StageSettings } from '../stages.ts';

/** Logs are kept for a stage's time and go with whatever wrote them. */
export const logGroup = (scope: Construct, id: string, stage: StageSettings): LogGroup =>
  new LogGroup(scope, id, { retention: stage.logRetention, removalPolicy: RemovalPolicy.DESTROY });
