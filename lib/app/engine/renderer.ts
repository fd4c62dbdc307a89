import type { JsonObject } from '../../domain/shared/fleet.ts';

/** `config` = the template's text is read as one YAML document whose top is a map; `now` is refused in it. */
export type RenderKind = 'text' | 'config';

export interface RenderJob {
  readonly kind: RenderKind;
  readonly template: string;
  /** Besides what the whole page shares. */
  readonly context: JsonObject;
}

export interface RenderPage {
  readonly shared: JsonObject;
  readonly jobs: readonly RenderJob[];
}

/** A text for `text`, a map for `config`; else what is wrong with the template, or with it for this context. */
export type Rendered = { readonly ok: true; readonly value: string | JsonObject } | { readonly ok: false; readonly error: string };

/** SPEC §8: the same answer as Jinja2 or a refusal that names the construct. */
export interface Renderer {
  /** One answer for each job, in their order. A page is one round trip. Throws `unavailable` when templates cannot be rendered now. */
  render(page: RenderPage): Promise<readonly Rendered[]>;
}
