import type { Rendered, Renderer, RenderJob, RenderPage } from '../../app/engine/renderer.ts';
import { unavailable } from '../../app/errors.ts';
import { MAX_RENDER_BYTES, MAX_RENDER_JOBS, type RenderRequest, renderAnswer } from '../../contracts/render.ts';

const MAX_KNOWN = 20;
const MAX_KEY = 64 * 1024;

/** The render function: a page is one call, unless it is too long for one. */
export class RemoteRenderer implements Renderer {
  readonly #answers = new Map<string, readonly Rendered[]>();
  readonly #call: (request: RenderRequest) => Promise<unknown>;

  constructor(call: (request: RenderRequest) => Promise<unknown>) {
    this.#call = call;
  }

  async render(page: RenderPage): Promise<readonly Rendered[]> {
    return page.jobs.length === 1 ? this.#known(page) : this.#render(page);
  }

  /** What is looked at again and again, like the operator's target, is rendered once: the same template with the same names gives the same. */
  async #known(page: RenderPage): Promise<readonly Rendered[]> {
    const key = JSON.stringify(page);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = await this.#render(page);
    if (this.#answers.size >= MAX_KNOWN) this.#answers.delete(this.#answers.keys().next().value ?? '');
    if (key.length <= MAX_KEY) this.#answers.set(key, answer);
    return answer;
  }

  async #render({ shared, jobs }: RenderPage): Promise<readonly Rendered[]> {
    const results: Rendered[] = [];
    while (results.length < jobs.length) {
      const request = requestOf(shared, jobs.slice(results.length));
      results.push(...(await this.#answer(request)));
    }
    return results;
  }

  /** A fault of the function is none of the template. */
  async #answer(request: RenderRequest): Promise<readonly Rendered[]> {
    try {
      const { results } = renderAnswer.parse(await this.#call(request));
      if (results.length > request.jobs.length) throw new Error(`${results.length} answers to ${request.jobs.length} jobs`);
      return results as readonly Rendered[];
    } catch (error) {
      throw unavailable('Templates cannot be rendered at the moment; try again.', error);
    }
  }
}

/** As many of the first jobs as fit. */
function requestOf(shared: RenderPage['shared'], jobs: readonly RenderJob[]): RenderRequest {
  const templates = new Map<string, number>();
  const request: RenderRequest['jobs'] = [];
  let bytes = size(shared);
  for (const { kind, template, context } of jobs.slice(0, MAX_RENDER_JOBS)) {
    bytes += size(context) + (templates.has(template) ? 0 : size(template));
    if (bytes > MAX_RENDER_BYTES && request.length > 0) break;
    const place = templates.get(template) ?? templates.size;
    templates.set(template, place);
    request.push({ template: place, kind, context });
  }
  return { templates: [...templates.keys()], shared, jobs: request };
}

const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
