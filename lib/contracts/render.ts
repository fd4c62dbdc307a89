import * as z from 'zod';

/** What the render function is asked and what it answers (SPEC §8). */

/** Names and their values, already JSON. */
const map = z.record(z.string(), z.unknown());

export const MAX_RENDER_JOBS = 1_000;
/** A call carries at most 6 MB either way; a page that needs more goes in several. */
export const MAX_RENDER_BYTES = 4_000_000;

/** `text` = the text as it is; `config` = the text read as one YAML map. */
export const renderKind = z.enum(['text', 'config']);

export const renderRequest = z.object({
  /** Each once; jobs name them by their place. */
  templates: z.array(z.string()),
  /** Names that every context has. */
  shared: map,
  jobs: z
    .array(z.object({ template: z.int().min(0), kind: renderKind, context: map }))
    .min(1)
    .max(MAX_RENDER_JOBS),
});
export type RenderRequest = z.infer<typeof renderRequest>;

export const renderResult = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), value: z.union([z.string(), map]) }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);
export type RenderResult = z.infer<typeof renderResult>;

/** Results of the first jobs, one at least; where the answer would get too long, the rest is asked for again. */
export const renderAnswer = z.object({ results: z.array(renderResult).min(1) });
export type RenderAnswer = z.infer<typeof renderAnswer>;
