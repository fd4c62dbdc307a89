import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnResource, Stack } from 'aws-cdk-lib';
import { deployment } from '../../infra/app.ts';
import { bundleFunctions } from '../../infra/bundle.ts';
import type { StageSettings } from '../../infra/stages.ts';

export interface TemplateResource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}
export interface Template {
  readonly Resources: Record<string, TemplateResource>;
  readonly Outputs?: Record<string, { readonly Value: unknown; readonly Description?: string }>;
}

/** A stage as `cdk synth` makes it, with the feature flags of cdk.json. */
export async function synthesize(stage: StageSettings) {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };
  const app = new App({ context, outdir: mkdtempSync(join(tmpdir(), 'synth-')), analyticsReporting: false });
  const { data, service } = deployment(app, stage, await bundleFunctions());
  const assembly = app.synth();
  const template = (stack: Stack) => assembly.getStackArtifact(stack.artifactId).template as Template;
  /** Construct paths within the stack, by logical id. */
  const paths = new Map(
    app.node
      .findAll()
      .filter((node): node is CfnResource => CfnResource.isCfnResource(node))
      .map((node) => [Stack.of(node).resolve(node.logicalId) as string, pathOf(node)]),
  );
  return { app, stacks: { data, service }, data: template(data), service: template(service), paths };
}

const pathOf = (node: CfnResource): string =>
  node.node.path
    .split('/')
    .slice(1)
    .join('/')
    .replace(/\/Resource$/, '');

/** Resources of a type with their logical ids. */
export const ofType = (template: Template, type: string): [id: string, resource: TemplateResource][] =>
  Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
