import type { EnqueuePageInput, EnqueuePageOutput } from '../../contracts/workflow/enqueue.ts';
import { scopeOf } from '../../domain/demand/scope.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import { type Decided, decideTargets, lacksOperatorVersion, type Wanted } from './decide-target.ts';
import { enqueueItems, supersedeUnneeded } from './enqueue-items.ts';
import { configsOf } from './enqueue-pages.ts';
import { ENQUEUE_PATIENCE, type EnqueueRun } from './enqueue-run.ts';
import { readPage, type Target, withBlocks } from './enqueue-targets.ts';
import type { EngineServices } from './services.ts';

/** SPEC §2: looks at each target of a page for each config that covers it, and makes the items that are due. */
export async function enqueuePage(services: EngineServices, input: EnqueuePageInput): Promise<EnqueuePageOutput> {
  const run = await services.engine.enqueueRun(input.enqueue_run);
  if (run === null || run.status === 'done') return { enqueued: 0, skipped: 0, unchanged: 0 };
  const targets = await readPage(services, run, input.page);
  const sum = { enqueued: 0, skipped: 0, unchanged: 0 };
  for (const config of await configsOf(services, run)) {
    const part = await enqueueFor(services, run, config, targets);
    sum.enqueued += part.enqueued;
    sum.skipped += part.skipped;
    sum.unchanged += part.unchanged;
  }
  await services.engine.noteEnqueued(run.id, null, sum.enqueued, targets.length, services.clock.now() + ENQUEUE_PATIENCE);
  return sum;
}

/** How often a page is looked at again because the settings changed meanwhile; then the next reconciliation does it. */
const LOOKS = 5;

/** SPEC §2.7: what is refused because the settings are newer by now is decided again from those. */
async function enqueueFor(
  services: EngineServices,
  run: EnqueueRun,
  config: BlockRolloutConfig,
  targets: readonly Target[],
): Promise<EnqueuePageOutput> {
  const sum = { enqueued: 0, skipped: 0 };
  for (let look = 1; ; look++) {
    const settings = await services.settings.read();
    const { due, looked, made } = await enqueueUnder(services, run, config, settings, targets);
    sum.enqueued += made.enqueued;
    sum.skipped += made.skipped;
    const outdated = made.enqueued + made.skipped < due && (await services.settings.read()).revision !== settings.revision;
    if (!outdated || look >= LOOKS) return { ...sum, unchanged: Math.max(0, looked - sum.enqueued - sum.skipped) };
  }
}

async function enqueueUnder(
  services: EngineServices,
  run: EnqueueRun,
  config: BlockRolloutConfig,
  settings: SystemSettings,
  targets: readonly Target[],
): Promise<{ due: number; looked: number; made: { enqueued: number; skipped: number } }> {
  const none = { enqueued: 0, skipped: 0 };
  if (lacksOperatorVersion(services, config, settings)) return { due: 0, looked: 0, made: none };
  const covers = scopeOf(config);
  const inScope = targets.filter((t) => covers(t.scope));
  if (inScope.length === 0) return { due: 0, looked: 0, made: none };
  const found = await withBlocks(services, config, inScope);
  const run_kind = run.kind === 'schedule' || run.kind === 'manual' ? run.kind : 'reconciliation';
  const decided = await decideTargets(services, { run: run_kind, allow_downgrade: run.allow_downgrade }, config, settings, found);
  const due = decided.flatMap((d): Wanted[] => (d.decision.kind === 'nothing' ? [] : [{ ...d, decision: d.decision }]));
  await supersedeUnneeded(services, run, decided);
  const made = await enqueueItems(services, run, due);
  const about = { enqueue_run: run.id, rollout_config: config.id, looked_at: found.length };
  services.log.info('targets_decided', { ...about, ...made, reasons: reasonsOf(decided) });
  return { due: due.length, looked: found.length, made };
}

/** How many targets were decided how, and why. */
function reasonsOf(decided: readonly Decided[]): Record<string, number> {
  const reasons: Record<string, number> = {};
  for (const { decision } of decided) {
    const why = decision.kind === 'nothing' ? decision.why : decision.kind === 'skipped' ? decision.reason : decision.kind;
    // A takeover that failed names a path as well, of which there are many.
    const [reason = why] = why.split(':');
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  return reasons;
}
