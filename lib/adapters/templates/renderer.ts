import type { Rendered, Renderer, RenderKind, RenderPage } from '../../app/engine/renderer.ts';
import { readStrictYaml } from '../../app/yaml/strict-yaml.ts';
import type { Json, JsonObject } from '../../domain/shared/fleet.ts';
import { compile, type Template } from './template.ts';
import { MAX_TEXT, TemplateError } from './values.ts';

export type RenderedText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };
export type RenderedConfig = { readonly ok: true; readonly config: JsonObject } | { readonly ok: false; readonly error: string };

/** Thousands of targets render the same few templates. */
const MAX_KEPT = 200;

/** SPEC §8: nunjucks' syntax with Jinja2's meaning, or a refusal that names the line and what to do. */
export class NunjucksRenderer implements Renderer {
  readonly #kept = new Map<string, Template | TemplateError>();

  async render({ shared, jobs }: RenderPage): Promise<readonly Rendered[]> {
    return jobs.map(({ kind, template, context }) => this.one(kind, template, { ...shared, ...context }));
  }

  one(kind: RenderKind, template: string, context: JsonObject): Rendered {
    if (kind === 'config') {
      const rendered = this.config(template, context);
      return rendered.ok ? { ok: true, value: rendered.config } : rendered;
    }
    const rendered = this.text(template, context);
    return rendered.ok ? { ok: true, value: rendered.text } : rendered;
  }

  text(template: string, context: JsonObject): RenderedText {
    return this.#render(template, context, true);
  }

  /** `now` is refused: the config must not change by looking at it. */
  config(template: string, context: JsonObject): RenderedConfig {
    const rendered = this.#render(template, context, false);
    return rendered.ok ? readConfig(rendered.text) : rendered;
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
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, error: 'the rendered YAML must be a map (key: value lines)' };
  const config = value as JsonObject;
  return room(config, MAX_TEXT) < 0
    ? { ok: false, error: 'the config gets longer than 256 KiB; its aliases repeat too much' }
    : { ok: true, config };
}

/** What is left of so many characters when the value has been written out; aliases make a short text long. */
function room(value: Json, left: number): number {
  if (typeof value === 'string') return left - value.length;
  if (typeof value !== 'object' || value === null) return left - 1;
  let rest = left - 1;
  for (const [key, part] of Object.entries(value)) {
    if (rest < 0) break;
    rest = room(part, rest - (Array.isArray(value) ? 1 : key.length));
  }
  return rest;
}
