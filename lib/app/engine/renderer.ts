import type { JsonObject } from '../../domain/shared/fleet.ts';

export type RenderedText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };
export type RenderedConfig = { readonly ok: true; readonly config: JsonObject } | { readonly ok: false; readonly error: string };

/** SPEC §8: the same answer as Jinja2 or a refusal that names the construct. */
export interface Renderer {
  text(template: string, context: JsonObject): Promise<RenderedText>;
  /** The template's text read as one YAML document whose top is a map. */
  config(template: string, context: JsonObject): Promise<RenderedConfig>;
}
