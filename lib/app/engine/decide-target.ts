import { type DemandDecision, type DemandFacts, decideDemand } from '../../domain/demand/decide.ts';
import { scopeOf } from '../../domain/demand/scope.ts';
import type { Block } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, SystemSettings } from '../../domain/shared/rollout.ts';
import { SECOND } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { isOperatorBlock, operatorConfigId } from './configs.ts';
import type { TargetBlock } from './enqueue-targets.ts';
import { type RenderedTarget, renderTargets } from './render.ts';
import type { EngineServices } from './services.ts';

export type TargetDecision =
  | DemandDecision
  | { readonly kind: 'skipped'; readonly reason: `takeover_failed: ${string}` }
  | { readonly kind: 'template_error'; readonly error: string };

/** What one config wants of one target, decided; the preview shows it and the enqueue run acts on it (SPEC §2). */
export interface Decided {
  readonly config: BlockRolloutConfig;
  readonly settings: SystemSettings;
  readonly at: TargetBlock;
  readonly rendered: RenderedTarget;
  readonly decision: TargetDecision;
  readonly allow_downgrade: boolean;
}

/** What is due for one target. */
export interface Wanted extends Decided {
  readonly decision: Exclude<TargetDecision, { kind: 'nothing' }>;
}

/** Why targets are looked at. */
export interface Look {
  readonly run: DemandFacts['run'];
  readonly allow_downgrade: boolean;
}

/** Nobody has said yet which operator the fleet shall run (SPEC §5): the operator's config asks for nothing. */
export const lacksOperatorVersion = (
  services: Pick<EngineServices, 'ids'>,
  config: BlockRolloutConfig,
  settings: SystemSettings,
): boolean => config.id === operatorConfigId(services.ids) && settings.OPERATOR_BLOCK_VERSION === null;

export async function decideTargets(
  services: EngineServices,
  look: Look,
  config: BlockRolloutConfig,
  settings: SystemSettings,
  found: readonly TargetBlock[],
): Promise<Decided[]> {
  const toRender = found.map((at) => ({ target: at.target, override: overrideOf(config, at) }));
  const [owners, rendered] = await Promise.all([otherOwners(services, config, found), renderTargets(services, config, settings, toRender)]);
  return Promise.all(
    rendered.flatMap((one, index) => {
      const at = found[index];
      return at === undefined ? [] : [decideTarget(services, look, config, settings, at, one, owners)];
    }),
  );
}

/** SPEC §5: an override concerns the operator only. */
const overrideOf = (config: BlockRolloutConfig, { target, block }: TargetBlock): string | null =>
  isOperatorBlock(block?.name ?? config.block_name ?? '') ? (target.cluster?.rollout_override.version_override ?? null) : null;

/** Configs that other blocks of the page belong to (SPEC §2.8); usually none. */
async function otherOwners(
  services: EngineServices,
  config: BlockRolloutConfig,
  found: readonly TargetBlock[],
): Promise<Map<string, BlockRolloutConfig>> {
  const ids = new Set(
    found.flatMap(({ block }) => (block?.managed_by_brc == null || block.managed_by_brc === config.id ? [] : [block.managed_by_brc])),
  );
  return ids.size === 0 ? new Map() : services.objects.getMany('block_rollout_config', [...ids]);
}

async function decideTarget(
  services: EngineServices,
  look: Look,
  config: BlockRolloutConfig,
  settings: SystemSettings,
  at: TargetBlock,
  rendered: RenderedTarget,
  owners: ReadonlyMap<string, BlockRolloutConfig>,
): Promise<Decided> {
  const { target, block } = at;
  const allow_downgrade = look.allow_downgrade || overrideOf(config, at) !== null;
  const owner = block?.managed_by_brc == null ? undefined : owners.get(block.managed_by_brc);
  const wanted = decideDemand({
    run: look.run,
    config,
    block,
    app: at.app,
    rendered: rendered.ok ? rendered : { target_version: null, config_hash: null },
    allow_downgrade,
    owner_active: acts(owner) && scopeOf(owner)(target.scope),
    agent_present: await agentPresent(services, config, at, settings),
  });
  const decision = rendered.ok ? takeover(config, block, wanted) : templateError(look, config, block, rendered, wanted);
  return { config, settings, at, rendered, decision, allow_downgrade };
}

const acts = (config: BlockRolloutConfig | undefined): config is BlockRolloutConfig => config?.active === true && !config.archived;

/** SPEC §8: a block of the CLI whose values cannot be made credentials is not taken over. */
function takeover(config: BlockRolloutConfig, block: Block | null, wanted: DemandDecision): TargetDecision {
  const mapping = config.config_to_credential_mappings[0];
  if (wanted.kind !== 'enqueue' || block?.created_by_component !== 'cli' || mapping === undefined) return wanted;
  return { kind: 'skipped', reason: `takeover_failed: ${mapping.config_path}` };
}

/** SPEC §8: it fails the item of this target only, once for reconciliation (§2.6); never where nothing would be enqueued anyway (§2.4, §2.8). */
function templateError(
  look: Look,
  config: BlockRolloutConfig,
  block: Block | null,
  rendered: RenderedTarget & { ok: false },
  wanted: DemandDecision,
): TargetDecision {
  if (look.run === 'reconciliation' && remembersError(config, block, rendered.context_hash)) return { kind: 'nothing', why: 'remembered' };
  if (wanted.kind === 'skipped') return wanted;
  if (wanted.kind === 'nothing' && (wanted.why === 'block_archived' || wanted.why === 'auto_rollout_off')) return wanted;
  return { kind: 'template_error', error: rendered.error };
}

/** SPEC §2.6: a template that failed counts with the hash of (template revision, context). */
function remembersError(config: BlockRolloutConfig, block: Block | null, context_hash: string): boolean {
  const last = block?.remembered[config.id];
  return last?.reason === 'template_error' && last.config_hash === context_hash;
}

/** Only asked where an earlier item ended `target_absent` (SPEC §3.12). */
async function agentPresent(
  services: EngineServices,
  config: BlockRolloutConfig,
  { target, block }: TargetBlock,
  settings: SystemSettings,
): Promise<boolean> {
  if (block?.remembered[config.id]?.reason !== 'target_absent' || target.cluster === null) return true;
  const agent = await services.presence.get(derivedId.operatorAgent(services.ids, target.cluster.id), true);
  return agent?.last_seen != null && services.clock.now() - agent.last_seen < settings.AGENT_WARNING_AFTER_SECONDS * SECOND;
}
