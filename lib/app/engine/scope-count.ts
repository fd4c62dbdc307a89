import { scopeOf } from '../../domain/demand/scope.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import { demandOf } from './demands.ts';
import { stretchesOf } from './enqueue-pages.ts';
import { enqueueRunOf } from './enqueue-run.ts';
import { readPage, type Target } from './enqueue-targets.ts';
import type { EngineServices } from './services.ts';

/** Targets that a config covers now, page by page; it need not be saved. */
export async function* targetsInScope(services: EngineServices, config: BlockRolloutConfig): AsyncGenerator<Target[]> {
  const covers = scopeOf(config);
  const run = enqueueRunOf(demandOf(services, { rollout_config: config.id }));
  for await (const stretch of stretchesOf(services, run, [config]))
    yield (await readPage(services, run, stretch)).filter((t) => covers(t.scope));
}

/** SPEC §1: every write and preview says how many clusters are in scope. */
export async function countInScope(services: EngineServices, config: BlockRolloutConfig): Promise<number> {
  let n = 0;
  for await (const page of targetsInScope(services, config)) n += page.length;
  return n;
}
