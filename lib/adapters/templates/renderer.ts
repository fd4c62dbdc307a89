import type { RenderedConfig, RenderedText, Renderer } from '../../app/engine/renderer.ts';
import { readStrictYaml } from '../../app/yaml/strict-yaml.ts';
import type { JsonObject } from '../../domain/shared/fleet.ts';
import { compile, type Template } from './template.ts';
import { TemplateError } from './values.ts';

/** Thousands of targets render the same few templates. */
const MAX_KEPT = 200;

/** SPEC §8: nunjucks' syntax with Jinja2's meaning, or a refusal that names the line and what to do. */
export class NunjucksRenderer implements Renderer {
  readonly #kept = new Map<string, Template | TemplateError>();

  async text(template: string, context: JsonObject): Promise<RenderedText> {
    return this.#render(template, context, true);
  }

  /** `now` is refused: the config must not change by looking at it. */
  async config(template: string, context: JsonObject): Promise<RenderedConfig> {
    const rendered = this.#render(template, context, false);
    return rendered.ok ? readConfig(rendered.text) : rendered;
  }

  /** What is wrong with the template whatever the context; null when it can be read. */
  problem(template: string, kind: 'text' | 'config'): string | null {
    const compiled = this.#compiled(template);
    if (compiled instanceof TemplateError) return compiled.message;
    return kind === 'config' ? nowRefused(compiled) : null;
  }

  #render(template: string, context: JsonObject, now: boolean): RenderedText {
    const compiled = this.#compiled(template);
    if (compiled instanceof TemplateError) return { ok: false, error: compiled.message };
    const refused = now ? null : nowRefused(compiled);
    if (refused !== null) return { ok: false, error: refused };
    try {
      return { ok: true, text: compiled.render(context) };
    } catch (error) {
      if (error instanceof TemplateError) return { ok: false, error: error.message };
      throw error;
    }
  }

  #compiled(text: string): Template | TemplateError {
    const known = this.#kept.get(text);
    const template = known ?? compiledOrRefused(text);
    if (known !== undefined) this.#kept.delete(text);
    else if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value ?? '');
    this.#kept.set(text, template);
    return template;
  }
}

function compiledOrRefused(text: string): Template | TemplateError {
  try {
    return compile(text);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

const nowRefused = ({ usesNow }: Template): string | null =>
  usesNow === null ? null : `line ${usesNow}: "now" cannot be used in a config; it would change with every look`;

function readConfig(text: string): RenderedConfig {
  const { value, mistakes } = readStrictYaml(text);
  const [mistake] = mistakes;
  if (mistake !== undefined) {
    const where = mistake.path === '' ? '' : ` (${mistake.path})`;
    return { ok: false, error: `line ${mistake.line} of the rendered YAML${where}: ${mistake.reason}` };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, config: value as JsonObject };
  return { ok: false, error: 'the rendered YAML must be a map (key: value lines)' };
}
