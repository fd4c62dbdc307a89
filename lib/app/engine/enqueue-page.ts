import type { EnqueuePageInput, EnqueuePageOutput } from '../../contracts/workflow/enqueue.ts';
import { type DemandDecision, decideDemand } from '../../domain/demand/decide.ts';
import { scopeOf } from '../../domain/demand/scope.ts';
import type { Block } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import { SECOND } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { isOperatorBlock, operatorConfigId } from './configs.ts';
import { configsOf } from './enqueue-pages.ts';
import { ENQUEUE_PATIENCE, type EnqueueRun } from './enqueue-run.ts';
import { enqueueItems } from './enqueue-items.ts';
import { readPage, type Target, type TargetBlock, withBlocks } from './enqueue-targets.ts';
import { type RenderedTarget, renderTarget } from './render.ts';
import type { EngineServices } from './services.ts';

/** What one config wants of one target, decided. */
export interface Wanted {
  readonly config: BlockRolloutConfig;
  readonly settings: SystemSettings;
  readonly at: TargetBlock;
  readonly rendered: RenderedTarget;
  readonly decision:
    | Exclude<DemandDecision, { kind: 'nothing' }>
    | { readonly kind: 'skipped'; readonly reason: `takeover_failed: ${string}` }
    | { readonly kind: 'template_error'; readonly error: string };
  readonly allow_downgrade: boolean;
}

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

async function enqueueFor(services: EngineServices, run: EnqueueRun, config: BlockRolloutConfig, targets: readonly Target[]): Promise<EnqueuePageOutput> {
  const settings = await services.settings.read();
  // Nobody has said yet which operator the fleet shall run (SPEC §5).
  if (config.id === operatorConfigId(services.ids) && settings.OPERATOR_BLOCK_VERSION === null) return { enqueued: 0, skipped: 0, unchanged: 0 };
  const covers = scopeOf(config);
  const inScope = targets.filter((t) => covers(t.scope));
  if (inScope.length === 0) return { enqueued: 0, skipped: 0, unchanged: 0 };
  const found = await withBlocks(services, config, inScope);
  const owners = await otherOwners(services, config, found);
  const wanted = await Promise.all(found.map((at) => decide(services, run, config, settings, at, owners)));
  const due = wanted.filter((w) => w !== null);
  const made = await enqueueItems(services, run, due);
  return { ...made, unchanged: found.length - made.enqueued - made.skipped };
}

/** Configs that other blocks of the page belong to (SPEC §2.8); usually none. */
async function otherOwners(services: EngineServices, config: BlockRolloutConfig, found: readonly TargetBlock[]): Promise<Map<string, BlockRolloutConfig>> {
  const ids = new Set(found.flatMap(({ block }) => (block?.managed_by_brc == null || block.managed_by_brc === config.id ? [] : [block.managed_by_brc])));
  return ids.size === 0 ? new Map() : services.objects.getMany('block_rollout_config', [...ids]);
}

async function decide(
  services: EngineServices,
  run: EnqueueRun,
  config: BlockRolloutConfig,
  settings: SystemSettings,
  at: TargetBlock,
  owners: ReadonlyMap<string, BlockRolloutConfig>,
): Promise<Wanted | null> {
  const { target, block } = at;
  // SPEC §5: an override concerns the operator only.
  const override = isOperatorBlock(block?.name ?? config.block_name ?? '') ? (target.cluster?.rollout_override.version_override ?? null) : null;
  const rendered = await renderTarget(services, config, settings, target, override);
  const allow_downgrade = run.allow_downgrade || override !== null;
  const common = { config, settings, at, rendered, allow_downgrade };
  const owner = block?.managed_by_brc == null ? undefined : owners.get(block.managed_by_brc);
  if (!rendered.ok && remembersError(config, block, rendered.context_hash)) return null;
  const decision = decideDemand({
    run: run.kind === 'schedule' ? 'schedule' : run.kind === 'manual' ? 'manual' : 'reconciliation',
    config,
    block,
    app: at.app,
    rendered: rendered.ok ? rendered : { target_version: null, config_hash: null },
    allow_downgrade,
    owner_active: owner !== undefined && owner.active && !owner.archived && scopeOf(owner)(target.scope),
    agent_present: await agentPresent(services, config, at, settings),
  });
  if (!rendered.ok) return decision.kind === 'skipped' ? { ...common, decision } : { ...common, decision: { kind: 'template_error', error: rendered.error } };
  const mapping = config.config_to_credential_mappings[0];
  if (decision.kind === 'enqueue' && block?.created_by_component === 'cli' && mapping !== undefined)
    return { ...common, decision: { kind: 'skipped', reason: `takeover_failed: ${mapping.config_path}` } };
  return decision.kind === 'nothing' ? null : { ...common, decision };
}

/** SPEC §2.6: a template that failed counts with the hash of (template revision, context). */
function remembersError(config: BlockRolloutConfig, block: Block | null, context_hash: string): boolean {
  const last = block?.remembered[config.id];
  return last?.reason === 'template_error' && last.config_hash === context_hash;
}

/** Only asked where an earlier item ended `target_absent` (SPEC §3.12). */
async function agentPresent(services: EngineServices, config: BlockRolloutConfig, { target, block }: TargetBlock, settings: SystemSettings): Promise<boolean> {
  if (block?.remembered[config.id]?.reason !== 'target_absent' || target.cluster === null) return true;
  const agent = await services.presence.get(derivedId.operatorAgent(services.ids, target.cluster.id), true);
  return agent?.last_seen != null && services.clock.now() - agent.last_seen < settings.AGENT_WARNING_AFTER_SECONDS * SECOND;
}
