import type { DemandNothing } from '../../domain/demand/decide.ts';
import { effectiveCriticality } from '../../domain/item/criticality.ts';
import type { Block, JsonObject } from '../../domain/shared/fleet.ts';
import type { Item, Wave } from '../../domain/shared/rollout.ts';
import { DAY, type Instant } from '../../domain/shared/time.ts';
import { OPEN_WAVE } from '../../domain/wave/transitions.ts';
import { derivedId } from '../derived-ids.ts';
import { skipped } from './apply-plan.ts';
import { blankItem } from './blank-item.ts';
import { calendarKey } from './calendars.ts';
import { readRuling, resolveLimits } from './configs.ts';
import type { Decided, Wanted } from './decide-target.ts';
import { SUPERSEDED } from './end-attempt.ts';
import { ENQUEUE_PATIENCE, type EnqueueRun } from './enqueue-run.ts';
import { joinWave, type NewWave, newWave, waveOpened } from './join-wave.ts';
import { type Maintenances, readMaintenances } from './maintenances.ts';
import { newBlock, ownerIn } from './new-block.ts';
import { itemFailed } from './notices.ts';
import type { BlockChange, EngineChange } from './ports.ts';
import { releaseBlock } from './release-block.ts';
import type { EngineServices } from './services.ts';

/** Items of one transaction (DESIGN A5): with block, and calendar or notice, of each and the wave's rows under 100 actions. */
const ITEMS_AT_ONCE = 30;

/** A new item with what its block's row does at the same time. */
interface Birth {
  readonly item: Item;
  readonly block: BlockChange;
  readonly config: JsonObject | null;
}

/**
 * Makes the items: each with its place on the block (SPEC §2.5), in the open wave of its kind (SPEC §3.1). What is refused is refused for one
 * target only, and looked at again by the next reconciliation.
 */
export async function enqueueItems(
  services: EngineServices,
  run: EnqueueRun,
  wanted: readonly Wanted[],
): Promise<{ enqueued: number; skipped: number }> {
  const now = services.clock.now();
  const maintenances = wanted.length === 0 ? null : await readMaintenances(services, now);
  const room = await roomFor(services, run, wanted, now);
  const free = wanted.filter((_, index) => room[index]);
  let enqueued = 0;
  let born_skipped = 0;
  for (const group of groups(free)) {
    const births = group.wanted.map((w) => birth(services, w, maintenances, now));
    await Promise.all(births.map((b) => (b.config === null ? null : services.engine.saveConfig(b.item.id, b.config, now + 180 * DAY))));
    for (let i = 0; i < births.length; i += ITEMS_AT_ONCE) {
      const made = await bear(services, run, group, births.slice(i, i + ITEMS_AT_ONCE), now);
      enqueued += made.filter((m) => m.item.status === 'pending').length;
      born_skipped += made.filter((m) => m.item.status !== 'pending').length;
    }
  }
  return { enqueued, skipped: born_skipped };
}

interface Group {
  readonly first: Wanted;
  readonly owner_kind: string | null;
  readonly target_version: string | null;
  readonly wanted: Wanted[];
}

/** A wave is made of one owner kind, one target version and one template revision (SPEC §2.7, §3.1). */
function groups(wanted: readonly Wanted[]): Group[] {
  const all = new Map<string, Group>();
  for (const w of wanted) {
    const owner_kind = w.at.block?.managed_by?.kind ?? null;
    const target_version = w.rendered.ok ? w.rendered.target_version : null;
    const key = JSON.stringify([owner_kind, target_version]);
    const group = all.get(key) ?? { first: w, owner_kind, target_version, wanted: [] };
    all.set(key, group);
    group.wanted.push(w);
  }
  return [...all.values()];
}

/** The answers that stand for what the config wants now; the others leave alone what is under way. */
const UNNEEDED: ReadonlySet<string> = new Set(['up_to_date', 'not_installed', 'remembered'] satisfies DemandNothing[]);

/** SPEC §2.7: where the new target asks for nothing, an item for the older one gives way all the same. */
export async function supersedeUnneeded(services: EngineServices, run: EnqueueRun, decided: readonly Decided[]): Promise<void> {
  const unneeded = decided.filter(({ decision }) => decision.kind === 'nothing' && UNNEEDED.has(decision.why));
  await roomFor(services, run, unneeded, services.clock.now());
}

/** For each target, whether its block's place is free, or has become so. */
async function roomFor(services: EngineServices, run: EnqueueRun, decided: readonly Decided[], now: Instant): Promise<boolean[]> {
  const ids = decided.map((w) => w.at.block?.active_item ?? null);
  const read = run.kind === 'manual' ? [] : ids.filter((id) => id !== null);
  const holders = await services.engine.items(read, true);
  return Promise.all(
    decided.map(async (w, index) => {
      const id = ids[index] ?? null;
      const item = holders.get(id ?? '');
      return id === null || (item !== undefined && (await makeRoom(services, w, item, now)));
    }),
  );
}

/**
 * SPEC §2.7: an item for an older target of the same config gives way: a waiting one ends superseded, a running one is marked, and the block is
 * looked at again when it ends. False = the block's place is taken.
 */
async function makeRoom(services: EngineServices, w: Decided, item: Item, now: Instant): Promise<boolean> {
  if (!supersedes(w, item)) return false;
  const settings_revision = w.settings.revision;
  if (item.status === 'in_progress') {
    if (item.reason !== SUPERSEDED)
      await services.engine.commit({ items: [{ before: item, after: { ...item, reason: SUPERSEDED } }], settings_revision });
    return false;
  }
  const ended = { before: item, after: skipped(item, SUPERSEDED, now) };
  const committed = await services.engine.commit({
    items: [ended],
    blocks: [releaseBlock(item, { outcome: 'skipped', reason: SUPERSEDED })],
    settings_revision,
  });
  return committed.ok;
}

/** Only an older target of the same config gives way, never what a person has started. */
export const supersedes = (w: Decided, active: Item): boolean =>
  active.rollout_config === w.config.id && active.source !== 'manual' && !sameContent(active, w);

function sameContent(item: Item, w: Decided): boolean {
  if (!w.rendered.ok) return item.template_revision === w.config.template_revision;
  return item.rendered_target_version === w.rendered.target_version && item.config_hash === w.rendered.config_hash;
}

function birth(services: EngineServices, w: Wanted, maintenances: Maintenances | null, now: Instant): Birth {
  const item = newItem(services, w, maintenances, now);
  const { block } = w.at;
  const status = w.decision.kind;
  if (block === null) {
    const made = newBlock(services, w.config, w.at, now);
    return {
      item,
      block: { id: made.id, create: status === 'enqueue' ? { ...made, active_item: item.id } : endedBlock(made, item) },
      config: configOf(w),
    };
  }
  // SPEC §8: only a config with auto_takeover gets here with a block of the CLI.
  const taken =
    block.created_by_component === 'cli'
      ? { created_by_component: 'api' as const, managed_by_brc: w.config.id }
      : { managed_by_brc: ownerIn(block, w.config) };
  if (status === 'enqueue') return { item, block: { id: block.id, take: item.id, set: taken }, config: configOf(w) };
  return { item, block: { id: block.id, set: { remembered: endedBlock(block, item).remembered } }, config: null };
}

const configOf = (w: Wanted): JsonObject | null => (w.rendered.ok ? w.rendered.config : null);

/** SPEC §2.5: an item that ends at its birth takes no place; it is remembered (SPEC §2.6). */
function endedBlock(block: Block, item: Item): Block {
  const outcome = item.status === 'failed' ? 'failed' : 'skipped';
  const remembered = releaseBlock(item, { outcome, reason: outcome === 'failed' ? 'template_error' : item.reason }).set?.remembered;
  return { ...block, remembered: remembered ?? {} };
}

function newItem(services: EngineServices, w: Wanted, maintenances: Maintenances | null, now: Instant): Item {
  const { target, block } = w.at;
  const { rendered } = w;
  const where = { k8s_cluster: target.cluster?.id ?? null, workspace: target.workspace.id, organization: target.organization.id };
  const item: Item = {
    ...blankItem(services, now),
    ...where,
    rollout_config: w.config.id,
    action_name: w.config.action_name,
    reason: w.config.enqueue_reason,
    rendered_target_version: rendered.ok ? rendered.target_version : null,
    config_hash: rendered.ok ? rendered.config_hash : rendered.context_hash,
    template_revision: w.config.template_revision,
    block: block?.id ?? derivedId.block(services.ids, target.cluster?.id ?? target.workspace.id, w.config.block_name ?? ''),
    block_name: block?.name ?? w.config.block_name ?? '',
    calendar: calendarKey(target.workspace, target.organization),
    criticality: effectiveCriticality(target.workspace.criticality, target.organization.criticality),
    in_maintenance: (maintenances?.until(where) ?? null) !== null,
    allow_downgrade: w.allow_downgrade || w.config.allow_downgrade,
  };
  switch (w.decision.kind) {
    case 'enqueue':
      return item;
    case 'skipped':
      return skipped(item, w.decision.reason, now);
    case 'template_error':
      return { ...item, status: 'failed', reason: `template_error: ${w.decision.error}`, completed_at: now };
  }
}

/** One transaction of up to 30 items; the refused ones leave and the rest goes again, in another wave when this one has closed meanwhile. */
async function bear(services: EngineServices, run: EnqueueRun, group: Group, births: readonly Birth[], now: Instant): Promise<Birth[]> {
  let left = [...births];
  while (left.length > 0) {
    const wave = run.manual_wave ?? (await joinWave(services, await kindOf(services, run, group), group.first.settings.revision));
    if (wave === null) return [];
    await services.engine.noteEnqueued(run.id, wave, 0, 0, now + ENQUEUE_PATIENCE);
    const create = run.manual_wave === null ? null : await manualWave(services, run, group, now);
    // Before the items: after a crash in between, a name too many does no harm, and one too few would hide items from every list.
    await services.engine.noteOrganizations(wave, [...new Set(left.map((b) => b.item.organization))]);
    const committed = await services.engine.commit(changeOf(services, run, group, left, wave, create, now));
    if (committed.ok) return left;
    const out = new Set(committed.refused.filter((r) => r.what === 'block' || r.what === 'item').map((r) => r.id));
    if (committed.refused.some((r) => r.what === 'platform')) return [];
    left = left.filter((b) => !out.has(b.block.id) && !out.has(b.item.id));
  }
  return [];
}

async function kindOf(services: EngineServices, run: EnqueueRun, group: Group): Promise<NewWave> {
  const { config } = group.first;
  const ruling = await readRuling(services, config.id);
  return {
    id: services.ids.fresh(),
    config,
    block_name: config.block_name ?? '',
    owner_kind: group.owner_kind,
    target_version: group.target_version,
    template_revision: config.template_revision,
    quiescence_seconds: resolveLimits(ruling.config, ruling.system).quiescence_seconds,
    source: 'scheduler',
    enqueue_run: null,
    reason: run.late,
  };
}

/** A manual wave is made with its first items, so that a request that finds nothing to do leaves none behind. */
async function manualWave(services: EngineServices, run: EnqueueRun, group: Group, now: Instant): Promise<Wave | null> {
  const id = run.manual_wave ?? '';
  if ((await services.engine.wave(id)) !== null) return null;
  return {
    ...newWave({ ...(await kindOf(services, run, group)), id, source: 'manual', enqueue_run: run.id }, now),
    last_item_added_at: now,
  };
}

function changeOf(
  services: EngineServices,
  run: EnqueueRun,
  group: Group,
  births: readonly Birth[],
  wave: string,
  create: Wave | null,
  now: Instant,
): EngineChange {
  const manual = run.manual_wave !== null;
  const { late } = run;
  const items = births.map(({ item }) => ({
    before: null,
    after: {
      ...item,
      rollout: wave,
      ...(late !== null && item.status === 'pending' ? { reason: [item.reason, late].filter((r) => r !== null).join('; ') } : {}),
      ...(manual ? { source: 'manual' as const, source_user: run.requested_by, window_bypassed: true } : {}),
    },
  }));
  return {
    items,
    blocks: births.map((b) => b.block),
    waves: [
      create === null
        ? { id: wave, status_in: OPEN_WAVE, set: { last_item_added_at: now }, enqueue_run: { add: run.id } }
        : { id: wave, create },
    ],
    settings_revision: group.first.settings.revision,
    notices: [
      ...(create === null ? [] : [waveOpened(services, create, now)]),
      ...items.flatMap(({ after }) => (after.status === 'failed' ? [itemFailed(services, after, now)] : [])),
    ],
  };
}
