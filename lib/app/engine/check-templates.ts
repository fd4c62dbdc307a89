import type { JsonObject } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { EMPTY_VERSION } from './render.ts';
import type { Rendered, Renderer, RenderJob } from './renderer.ts';

const FIELDS = ['target_version', 'block_config_template', 'template_block'] as const;

/** The templates of one config. */
export type Templates = Pick<BlockRolloutConfig, 'target_kind' | (typeof FIELDS)[number]>;

export interface TemplateProblem {
  readonly field: (typeof FIELDS)[number];
  /** With the line and the construct. */
  readonly reason: string;
}

export const sameTemplates = (a: Templates, b: Templates): boolean =>
  a.target_kind === b.target_kind && FIELDS.every((field) => a[field] === b[field]);

/**
 * SPEC §8: a template is refused when it is saved, where it cannot be rendered for a sample: the settings as they are, and a target that has every
 * label which the template asks for, since labels are each target's own. One call for any number of configs; an answer for each.
 */
export async function templateProblems(
  renderer: Renderer,
  settings: JsonObject,
  configs: readonly Templates[],
): Promise<readonly (readonly TemplateProblem[])[]> {
  const jobs: RenderJob[] = [];
  const asked = configs.map((config) =>
    FIELDS.flatMap((field) => {
      const template = config[field];
      if (template === null) return [];
      const kind = field === 'block_config_template' ? 'config' : 'text';
      return [{ field, place: jobs.push({ kind, template, context: sampleTarget(config.target_kind, template) }) - 1 }];
    }),
  );
  const shared = { system_config: { ...settings, OPERATOR_BLOCK_VERSION: settings['OPERATOR_BLOCK_VERSION'] ?? '0.0.0' } };
  const rendered = jobs.length === 0 ? [] : await renderer.render({ shared, jobs });
  return asked.map((templates) =>
    templates.flatMap(({ field, place }) => {
      const reason = reasonOf(field, rendered[place]);
      return reason === null ? [] : [{ field, reason }];
    }),
  );
}

/** Which labels a name that is only known when it is rendered stands for, a sample cannot know. */
const UNKNOWN_LABEL = /\b(organization|workspace|cluster)\.labels\b\S* is not defined$/;

function reasonOf(field: TemplateProblem['field'], rendered: Rendered | undefined): string | null {
  if (rendered === undefined) throw new Error('the renderer left a template out');
  if (!rendered.ok) return UNKNOWN_LABEL.test(rendered.error) ? null : rendered.error;
  return field === 'target_version' && String(rendered.value).trim() === '' ? EMPTY_VERSION : null;
}

function sampleTarget(kind: Templates['target_kind'], template: string): JsonObject {
  const labels = Object.fromEntries(labelsIn(template).map((label) => [label, 'sample']));
  const sample = { id: '00000000-0000-7000-8000-000000000000', name: 'sample', labels };
  return { organization: sample, workspace: sample, cluster: kind === 'k8s_cluster' ? sample : null };
}

/** `labels.env`, `labels['example.org/env']`, `labels.get('env')` */
const LABEL = /\blabels\s*(?:\.\s*(?!get\s*\()(\w+)|(?:\[|\.\s*get\s*\()\s*(?:'([^']*)'|"([^"]*)"))/g;

const labelsIn = (template: string): string[] =>
  [...template.matchAll(LABEL)].map(([, plain, single, double]) => plain ?? single ?? double ?? '');
