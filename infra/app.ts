import { App, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { type Bundles, bundleFunctions } from './bundle.ts';
import { DataStack } from './stacks/data-stack.ts';
import { ServiceStack } from './stacks/service-stack.ts';
import { type StageSettings, stageNamed } from './stages.ts';

/** The whole deployment: what must survive, and everything else. A finding of a rule pack that nobody acknowledged stops it. */
export function deployment(app: App, stage: StageSettings, bundles: Bundles) {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  Tags.of(app).add('project', 'block-rollout');
  Tags.of(app).add('stage', stage.name);
  const terminationProtection = stage.keepData;
  const data = new DataStack(app, `BlockRollout-${stage.name}-Data`, { stage, terminationProtection });
  const service = new ServiceStack(app, `BlockRollout-${stage.name}`, {
    stage,
    data: data.data,
    bundles,
    terminationProtection,
  });
  return { data, service };
}

// The only place that reads the environment: STAGE says which of infra/stages.ts is meant.
// Not `import.meta.main`, which the Node of macOS does not have yet.
if (process.argv[1] === import.meta.filename) deployment(new App(), stageNamed(process.env['STAGE'] ?? 'dev'), await bundleFunctions());
