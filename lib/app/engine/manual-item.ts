import { effectiveCriticality } from '../../domain/item/criticality.ts';
import { type Block, OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { Item, Wave } from '../../domain/shared/rollout.ts';
import { DAY, type Instant } from '../../domain/shared/time.ts';
import { derivedId } from '../derived-ids.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { urlOf } from '../urls.ts';
import { auditOf } from './audit.ts';
import { blankItem } from './blank-item.ts';
import { calendarKey } from './calendars.ts';
import { operatorConfigId, type Ruling, readRuling, resolveLimits } from './configs.ts';
import { forceItem } from './item-verbs.ts';
import { newWave, waveOpened } from './join-wave.ts';
import { newBlock } from './new-block.ts';
import { renderTarget } from './render.ts';
import type { EngineServices } from './services.ts';
import { touchItem } from './touch.ts';
import { driveWave } from './wake.ts';

export interface ManualItem {
  readonly block: string;
  readonly action_name: string;
  readonly reason: string | null;
  readonly allow_downgrade: boolean;
}

/**
 * SPEC §2.10: one item in a wave of its own, with the template and target of the config that the block belongs to, else the block's own; the
 * window does not count (§3.10). 409 with the active item when there is one (§2.5), however many ask at once.
 */
export async function createManualItem(services: EngineServices, request: ManualItem, actor: string, forced = false): Promise<Item> {
  const block = await services.objects.get('block', request.block, true);
  if (block === null) throw invalid('block', `There is no block ${request.block}.`, 'does_not_exist');
  if (block.archived) throw invalid('block', `Block "${block.name}" is archived.`);
  refuseActive(block);
  const ruling = await readRuling(services, block.managed_by_brc);
  return enqueue(services, request, block, ruling, { actor, forced, create: false });
}

/** SPEC §3.10: queues the operator of one cluster now. */
export async function forceUpdate(services: EngineServices, cluster: string, actor: string): Promise<Item> {
  const found = await services.objects.get('k8s_cluster', cluster, true);
  if (found === null || found.archived) throw notFound(`Cluster ${cluster}`);
  const id = derivedId.block(services.ids, cluster, OPERATOR_BLOCK);
  const block = await services.objects.get('block', id, true);
  const active = block?.active_item == null ? null : await services.engine.item(block.active_item);
  if (active?.status === 'in_progress')
    throw conflict(`Cluster "${found.name}" is being updated already.`, { id: active.id, url: urlOf('block_rollout_item', active.id) });
  if (active !== null) return forceItem(services, active.id, { override_freeze: false, reason: null }, actor);
  const request: ManualItem = { block: id, action_name: 'install', reason: 'force-update', allow_downgrade: false };
  if (block !== null) return createManualItem(services, request, actor, true);
  const ruling = await readRuling(services, operatorConfigId(services.ids));
  const [workspace, organization, app] = await Promise.all([
    services.objects.get('workspace', found.workspace),
    services.objects.get('organization', found.organization),
    services.objects.get('k8s_app', derivedId.app(services.ids, cluster, 'polycrate-operator')),
  ]);
  if (ruling.config === null || workspace === null || organization === null) throw notFound(`The operator's rollout config`);
  const made = newBlock(services, ruling.config, { target: { organization, workspace, cluster: found }, app }, services.clock.now());
  return enqueue(services, request, made, ruling, { actor, forced: true, create: true });
}

function refuseActive(block: Block): void {
  if (block.active_item === null) return;
  throw conflict(`Block "${block.name}" has an active item already.`, {
    id: block.active_item,
    url: urlOf('block_rollout_item', block.active_item),
  });
}

interface By {
  readonly actor: string;
  readonly forced: boolean;
  /** The block has no record yet. */
  readonly create: boolean;
}

async function enqueue(services: EngineServices, request: ManualItem, block: Block, ruling: Ruling, by: By): Promise<Item> {
  const now = services.clock.now();
  const content = await contentOf(services, request, block, ruling);
  const item = {
    ...(await itemOf(services, request, block, ruling, by, now)),
    rendered_target_version: content.target_version,
    config_hash: content.config_hash,
  };
  const wave = waveOf(item, ruling, block, now);
  if (content.config !== null) await services.engine.saveConfig(item.id, content.config, now + 180 * DAY);
  const object = { type: 'block_rollout_item', id: item.id, organization: item.organization };
  const committed = await services.engine.commit({
    items: [{ before: null, after: item }],
    blocks: [
      by.create ? { id: block.id, create: { ...block, active_item: item.id } } : { id: block.id, take: item.id, set: { remembered: {} } },
    ],
    waves: [{ id: wave.id, create: { ...wave, last_item_added_at: now } }],
    notices: [waveOpened(services, wave, now)],
    audits: [
      auditOf(
        services,
        by.actor,
        'item.create',
        object,
        { before: null, after: { block: block.id, action: item.action_name, reason: item.reason } },
        now,
      ),
    ],
  });
  if (!committed.ok) {
    const fresh = await services.objects.get('block', block.id, true);
    if (fresh !== null) refuseActive(fresh);
    throw conflict(`Block "${block.name}" was changed at the same moment; try again.`);
  }
  await touchItem(services, item);
  await driveWave(services, wave.id);
  return { ...item, version: 1 };
}

/** SPEC §2.10: the item's own wave. */
function waveOf(item: Item, { config, system }: Ruling, block: Block, now: Instant): Wave {
  const kind = {
    id: item.rollout,
    config,
    block_name: block.name,
    owner_kind: block.managed_by?.kind ?? null,
    target_version: item.rendered_target_version,
    template_revision: item.template_revision,
    quiescence_seconds: resolveLimits(config, system).quiescence_seconds,
    source: 'manual',
    enqueue_run: null,
    reason: item.reason,
  } as const;
  return newWave(kind, now);
}

/** SPEC §2.10. Another action than the config's has neither its target nor its template. */
async function contentOf(services: EngineServices, request: ManualItem, block: Block, { config, settings }: Ruling) {
  if (config === null || config.action_name !== request.action_name)
    return { target_version: request.action_name === 'install' ? block.block_version : null, config: null, config_hash: null };
  const [organization, workspace, cluster] = await Promise.all([
    services.objects.get('organization', block.organization),
    services.objects.get('workspace', block.workspace),
    block.k8s_cluster === null ? null : services.objects.get('k8s_cluster', block.k8s_cluster),
  ]);
  if (organization === null || workspace === null) throw notFound(`The workspace of block "${block.name}"`);
  const override = block.name === OPERATOR_BLOCK ? (cluster?.rollout_override.version_override ?? null) : null;
  const rendered = await renderTarget(services, config, settings, { organization, workspace, cluster }, override);
  if (!rendered.ok)
    throw invalid('block', `The template of rollout config "${config.name}" fails for this block: ${rendered.error}`, 'template_error');
  return rendered;
}

async function itemOf(services: EngineServices, request: ManualItem, block: Block, ruling: Ruling, by: By, now: Instant): Promise<Item> {
  const [workspace, organization] = await Promise.all([
    services.objects.get('workspace', block.workspace),
    services.objects.get('organization', block.organization),
  ]);
  return {
    ...blankItem(services, now),
    block: block.id,
    block_name: block.name,
    organization: block.organization,
    workspace: block.workspace,
    k8s_cluster: block.k8s_cluster,
    rollout: services.ids.fresh(),
    rollout_config: ruling.config?.id ?? null,
    action_name: request.action_name,
    source: 'manual',
    source_user: by.actor,
    reason: request.reason,
    template_revision: ruling.config?.template_revision ?? 0,
    forced: by.forced,
    window_bypassed: true,
    allow_downgrade: request.allow_downgrade,
    calendar: calendarKey(workspace, organization),
    criticality: effectiveCriticality(workspace?.criticality ?? null, organization?.criticality ?? null),
  };
}
