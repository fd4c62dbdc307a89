import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Bundle } from '../bundle.ts';
import { FUNCTIONS, type FunctionName, type FunctionSettings } from '../functions.ts';
import type { StageSettings } from '../stages.ts';
import { ServiceFunction } from './service-function.ts';

export interface FunctionsProps {
  readonly stage: StageSettings;
  readonly bundles: Readonly<Record<string, Bundle>>;
  readonly undelivered: IQueue;
}

/** One function per folder of `functions/`. */
export class Functions extends Construct {
  readonly all: Readonly<Record<FunctionName, ServiceFunction>>;

  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    const { stage, bundles, undelivered } = props;
    const made = Object.entries(FUNCTIONS).map(([name, settings]: [string, FunctionSettings]) => {
      const bundle = bundles[name];
      if (bundle === undefined) throw new Error(`There is no functions/${name}/handler.ts, which infra/functions.ts names.`);
      const reservedConcurrency = name === 'agent-api' ? stage.agentConcurrency : null;
      return [name, new ServiceFunction(this, name, { stage, settings, bundle, undelivered, reservedConcurrency })] as const;
    });
    const unknown = Object.keys(bundles).filter((name) => !(name in FUNCTIONS));
    if (unknown.length > 0) throw new Error(`infra/functions.ts does not say what functions/${unknown.join(', functions/')} may do.`);
    this.all = Object.fromEntries(made) as Record<FunctionName, ServiceFunction>;
  }

  of(name: FunctionName): LambdaFunction {
    return this.all[name].function;
  }
}
