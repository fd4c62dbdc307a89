import { type ChildProcess, fork } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Rendered } from '../../app/engine/renderer.ts';
import { MAX_RENDER_BYTES, type RenderRequest } from '../../contracts/render.ts';
import type { JsonObject } from '../../domain/shared/fleet.ts';
import { NunjucksRenderer } from './renderer.ts';

/** The jobs of a request that are to be done, by their places. */
export interface Turn {
  readonly request: RenderRequest;
  readonly todo: readonly number[];
}

/** After `ready` a turn is awaited; then the result of each job as JSON, and `end` after the last one that fitted. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly place: number; readonly json: string }
  | { readonly kind: 'end' };

const MARK = 'block-rollout-render-worker';

/** Together 64 MiB (SPEC §8). */
const MEMORY = ['--max-old-space-size=48', '--max-semi-space-size=5'];

/** From source the program's parts are loaded one by one, and no file beside them; a bundle is one file. */
function readable(): string[] {
  const here = import.meta.dirname;
  const root = join(here, '..', '..', '..');
  const files = import.meta.filename.endsWith('.ts') ? ['package.json', 'node_modules', 'lib'].map((name) => join(root, name)) : [here];
  return files.map((file) => realpathSync(file));
}

/** What the worker may do: read its own program. No other files, no processes, no program text made of strings. */
export const permissions = (): string[] => [
  '--permission',
  '--disallow-code-generation-from-strings',
  ...readable().map((file) => `--allow-fs-read=${file}`),
];

/** `file` once more, as a process with an environment that is empty. Left out: this very file; in a bundle it is the whole bundle. */
export function startWorker(file: string = import.meta.filename, allowed: readonly string[] = permissions()): ChildProcess {
  return fork(file, [MARK], { execArgv: [...MEMORY, ...allowed], env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
}

if (process.argv[1] === import.meta.filename && process.argv[2] === MARK && process.send !== undefined) {
  const renderer = new NunjucksRenderer();
  answerTurns((request, place) => resultOf(renderer, request, place));
}

/** The worker's side: one turn after the other, until whoever started it is gone. */
export function answerTurns(result: (request: RenderRequest, place: number) => unknown): void {
  // Each message is on its way before the next job begins, so that it is known which job a worker was at.
  const post = (message: FromWorker): Promise<unknown> => new Promise((sent) => process.send?.(message, sent));
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ request, todo }: Turn) => {
    let bytes = 0;
    for (const place of todo) {
      if (bytes >= MAX_RENDER_BYTES / 2) break;
      const json = JSON.stringify(result(request, place));
      bytes += Buffer.byteLength(json);
      await post({ kind: 'result', place, json });
    }
    await post({ kind: 'end' });
  });
  void post({ kind: 'ready' });
}

function resultOf(renderer: NunjucksRenderer, { templates, shared, jobs }: RenderRequest, place: number): Rendered {
  const job = jobs[place];
  const template = templates[job?.template ?? -1];
  if (job === undefined || template === undefined) return { ok: false, error: 'the request has no such template' };
  try {
    return renderer.one(job.kind, template, { ...shared, ...job.context } as JsonObject);
  } catch (error) {
    // A mistake of ours ends one item and not the page.
    return { ok: false, error: `the template cannot be rendered (${String(error)})` };
  }
}
