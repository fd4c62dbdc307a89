import { INBOX_LIMIT } from '../../app/agents/presence.ts';
import { enqueueRunOf } from '../../app/engine/enqueue-run.ts';
import type { BlockChange, EngineChange, GateChange, InboxChange, OpenWaveKey, Refusal, WaveChange } from '../../app/engine/ports.ts';
import { laneCalendar } from '../../domain/item/lane.ts';
import type { Item, Wave } from '../../domain/shared/rollout.ts';
import { isReady, itemRow, newWaveRow, runRow } from './engine-rows.ts';
import { enqueueRunRow } from './enqueue-rows.ts';
import { and, type Condition, eq, exists, gte, lte, missing, oneOf, or, smallerThan, type Update } from './expression.ts';
import { type Key, keys } from './keys.ts';
import { auditRow, objectRow } from './object-store.ts';
import { noticeAction } from './outbox-rows.ts';
import { notPaused, PRESENCE } from './presence-row.ts';
import type { Row } from './row.ts';
import type { Action } from './transact.ts';

export interface Step {
  readonly action: Action;
  readonly refusal: Refusal;
}

/** A change as the actions of one transaction, each with what its refusal means. */
export function stepsOf(change: EngineChange): Step[] {
  return [
    ...waveSteps(change),
    ...(change.items ?? []).map(({ before, after }) => step('item', after.id, putVersioned(itemRow(next(before, after)), before))),
    ...(change.runs ?? []).map(({ before, after }) => step('run', after.id, putVersioned(runRow(next(before, after), before), before))),
    ...(change.blocks ?? []).map((b) => step('block', b.id, blockAction(b))),
    ...(change.inbox ?? []).map((i) => step('inbox', i.agent, inboxAction(i))),
    ...gateSteps(change.gate),
    ...settingsStep(change),
    ...(change.notices ?? []).map((n) => step('wave', n.subject, noticeAction(n))),
    ...(change.demands ?? []).map((d) =>
      step('wave', d.id, { kind: 'put', row: enqueueRunRow(enqueueRunOf(d)), condition: missing('pk') }),
    ),
    ...(change.audits ?? []).map((a) => step('wave', a.object_id, { kind: 'put', row: auditRow(a) })),
  ];
}

/** SPEC §2.7: what was decided from older settings is not written. */
export const settingsAre = (revision: number): Condition => (revision === 0 ? missing('pk') : eq('revision', revision));

function settingsStep(change: EngineChange): Step[] {
  const conditions: Condition[] = [
    ...(change.unless_platform_paused === true ? [missing('rollouts_paused')] : []),
    ...(change.settings_revision === undefined ? [] : [settingsAre(change.settings_revision)]),
  ];
  return conditions.length === 0
    ? []
    : [step('platform', 'settings', { kind: 'check', key: keys.settings(), condition: and(...conditions) })];
}

const step = (what: Refusal['what'], id: string, action: Action): Step => ({ action, refusal: { what, id } });

const next = <T extends { version: number }>(before: T | null, after: T): T => ({ ...after, version: (before?.version ?? 0) + 1 });

function putVersioned(row: Row, before: { version: number } | null): Action {
  return { kind: 'put', row, condition: before === null ? missing('pk') : eq('version', before.version) };
}

type Sums = Record<string, number>;
const bump = (sums: Sums, name: string, by: number): void => {
  sums[name] = (sums[name] ?? 0) + by;
};

/** How the wave's counters move when an item goes from `before` to `after` (SPEC §3.3). Successes go to a shard of their own. */
function tally(before: Item | null, after: Item, row: Sums): boolean {
  const is = (item: Item | null, status: Item['status']): number => (item?.status === status ? 1 : 0);
  if (before === null) bump(row, 'total', 1);
  if (is(after, 'in_progress') > is(before, 'in_progress')) bump(row, 'started', 1);
  const ended = is(before, 'in_progress') > is(after, 'in_progress');
  const succeeded = ended && after.status === 'completed';
  if (ended && !succeeded) bump(row, 'ended', 1);
  bump(row, 'failed', is(after, 'failed') - is(before, 'failed'));
  bump(row, 'skipped', is(after, 'skipped') - is(before, 'skipped'));
  return succeeded;
}

interface WaveSums {
  readonly row: Sums;
  readonly done: Map<string, { key: Key; n: number }>;
  readonly ready: Map<string, number>;
}

function sumsByWave(change: EngineChange): Map<string, WaveSums> {
  const byWave = new Map<string, WaveSums>();
  for (const { before, after } of change.items ?? []) {
    const sums = byWave.get(after.rollout) ?? { row: {}, done: new Map(), ready: new Map() };
    byWave.set(after.rollout, sums);
    if (tally(before, after, sums.row)) {
      const key = keys.waveCounter(after.rollout, after.id);
      sums.done.set(key.sk, { key, n: (sums.done.get(key.sk)?.n ?? 0) + 1 });
    }
    if (isReady(before)) sums.ready.set(laneCalendar(before), (sums.ready.get(laneCalendar(before)) ?? 0) - 1);
    if (isReady(after)) sums.ready.set(laneCalendar(after), (sums.ready.get(laneCalendar(after)) ?? 0) + 1);
  }
  return byWave;
}

function waveSteps(change: EngineChange): Step[] {
  const sums = sumsByWave(change);
  const changes = new Map((change.waves ?? []).map((w) => [w.id, w]));
  const steps: Step[] = [];
  for (const wave of new Set([...sums.keys(), ...changes.keys()])) {
    const s = sums.get(wave);
    const add = Object.fromEntries(Object.entries(s?.row ?? {}).filter(([, n]) => n !== 0));
    const w = changes.get(wave);
    if (w?.create !== undefined) steps.push(...birthSteps(w.create, add, change.items ?? []));
    else if (w !== undefined || Object.keys(add).length > 0) steps.push(step('wave', wave, waveRowAction(wave, add, w)));
    for (const { key, n } of s?.done.values() ?? []) steps.push(step('wave', wave, { kind: 'update', key, update: { add: { done: n } } }));
    for (const [calendar, n] of s?.ready ?? [])
      if (n !== 0) steps.push(step('wave', wave, { kind: 'update', key: keys.calendar(wave, calendar), update: { add: { ready: n } } }));
    steps.push(...openSteps(wave, w));
  }
  return steps;
}

const waveOrganizationRow = (wave: string, organization: string): Row => ({
  ...keys.waveOrganization(wave, organization),
  ...keys.waveOrganizationListing(organization, wave),
  entity: 'wave_organization',
});

/** A wave made with its first items: in the same transaction, so that no crash hides them from the lists of their organizations. */
function birthSteps(wave: Wave, sums: Sums, items: NonNullable<EngineChange['items']>): Step[] {
  const running = { ...keys.runningWave(wave.rollout_config, wave.owner_kind, wave.id), entity: 'running_wave' };
  const organizations = new Set(items.map(({ after }) => after.organization));
  return [
    step('wave', wave.id, { kind: 'put', row: { ...newWaveRow(wave), ...sums }, condition: missing('pk') }),
    step('wave', wave.id, { kind: 'put', row: running }),
    ...[...organizations].map((organization) => step('wave', wave.id, { kind: 'put', row: waveOrganizationRow(wave.id, organization) })),
  ];
}

function openSteps(wave: string, w: WaveChange | undefined): Step[] {
  const row = (k: OpenWaveKey): Key => keys.openWave(k.config, k.owner, k.hash);
  const close: Step[] =
    w?.close === undefined
      ? []
      : [step('open', wave, { kind: 'delete', key: row(w.close), condition: or(missing('pk'), eq('wave', wave)) })];
  const open: Step[] =
    w?.open === undefined
      ? []
      : [
          step('open', wave, {
            kind: 'put',
            row: { ...row(w.open), entity: 'open_wave', wave },
            condition: or(missing('pk'), eq('wave', wave)),
          }),
        ];
  return [...close, ...open];
}

function waveRowAction(id: string, add: Sums, w: WaveChange | undefined): Action {
  const conditions: Condition[] = [exists('pk')];
  if (w?.status_in !== undefined) conditions.push(oneOf('status', w.status_in));
  if (w?.driver !== undefined) conditions.push(eq('driver', w.driver));
  if (w?.max_started !== undefined) conditions.push(lte('started', w.max_started));
  if (w?.max_failed !== undefined) conditions.push(lte('failed', w.max_failed));
  if (w?.no_enqueue_runs === true) conditions.push(missing('enqueue_runs'));
  if (w?.total_is !== undefined) conditions.push(eq('total', w.total_is));
  const recheck = w?.set?.recheck_at;
  const lane = recheck === undefined ? {} : recheck === null ? { gsi2pk: null, gsi2sk: null } : keys.due('wave', recheck, id);
  const runs = w?.enqueue_run;
  const update: Update = {
    set: { ...(w?.set ?? {}), ...lane },
    add: { ...add, ...(runs?.add === undefined ? {} : { enqueue_runs: new Set([runs.add]) }) },
    delete: runs?.remove === undefined ? {} : { enqueue_runs: new Set([runs.remove]) },
  };
  return { kind: 'update', key: keys.waveRow(id), update: ensureChange(update), condition: and(...conditions) };
}

/** An update must change something; a bare condition on a row that other actions may not touch is a no-op write. */
function ensureChange(update: Update): Update {
  const empty = [update.set, update.add, update.delete].every((part) => Object.keys(part ?? {}).length === 0);
  return empty ? { add: { version: 1 } } : update;
}

function blockAction(b: BlockChange): Action {
  if (b.create !== undefined) return { kind: 'put', row: objectRow('block', b.create), condition: missing('pk') };
  const conditions: Condition[] = [exists('pk')];
  if (b.take !== undefined) conditions.push(missing('archived'), or(missing('active_item'), eq('active_item', b.take)));
  if (b.release !== undefined) conditions.push(eq('active_item', b.release));
  const active = b.take !== undefined ? { active_item: b.take } : b.release !== undefined ? { active_item: null } : {};
  return {
    kind: 'update',
    key: keys.object('block', b.id),
    update: { set: { ...(b.set ?? {}), ...active }, add: { version: 1 } },
    condition: and(...conditions),
  };
}

function inboxAction(i: InboxChange): Action {
  const conditions: Condition[] = [exists('pk')];
  if (i.heard_since !== undefined)
    conditions.push(gte(PRESENCE.lastSeen, i.heard_since), missing(PRESENCE.gone), missing(PRESENCE.revoked));
  if (i.now !== undefined) conditions.push(notPaused(i.now));
  const adds = i.add ?? [];
  if (adds.length > 0) conditions.push(smallerThan(PRESENCE.inbox, INBOX_LIMIT - adds.length + 1));
  const key = keys.presence(i.agent);
  const removes = i.remove ?? [];
  if (adds.length + removes.length + (i.cancel?.length ?? 0) === 0) return { kind: 'check', key, condition: and(...conditions) };
  return {
    kind: 'update',
    key,
    update: {
      set: Object.fromEntries(adds.map((a) => [`inbox.${a.run}`, a.entry])),
      remove: removes.map((run) => `inbox.${run}`),
      ...(i.cancel === undefined || i.cancel.length === 0 ? {} : { add: { cancels: new Set(i.cancel) } }),
      ...(removes.length === 0 || i.keep_cancels === true ? {} : { delete: { cancels: new Set(removes) } }),
    },
    condition: and(...conditions),
  };
}

function gateSteps(gate: GateChange | undefined): Step[] {
  if (gate === undefined) return [];
  const start: Step[] =
    gate.start === undefined || gate.start === 0
      ? []
      : [
          step('gate', 'gate', {
            kind: 'update',
            key: keys.gate(),
            update: { add: { started: gate.start } },
            ...(gate.max_started == null ? {} : { condition: lte('started', gate.max_started) }),
          }),
        ];
  const ended = new Map<string, { key: Key; n: number }>();
  for (const cluster of gate.ends ?? []) {
    const key = keys.gateCounter(cluster);
    ended.set(key.sk, { key, n: (ended.get(key.sk)?.n ?? 0) + 1 });
  }
  return [
    ...start,
    ...[...ended.values()].map(({ key, n }) => step('gate', 'gate', { kind: 'update', key, update: { add: { ended: n } } })),
  ];
}
