import type { Blocker, BlockerCode, Item } from '../shared/rollout.ts';
import { type Instant, SECOND } from '../shared/time.ts';
import { CANARY_REVIEW } from '../wave/transitions.ts';
import { describeWhen } from '../windows/describe.ts';
import type { CalendarFacts, Candidate, PlanFacts, TargetFacts } from './facts.ts';
import { type NumberFacts, numbersOf } from './numbers.ts';

/** What must be known of a wave to say what holds one of its items. PlanFacts is one. */
export type HoldFacts = NumberFacts & Pick<PlanFacts, 'platform_paused'>;

/** The agent takes at most this many open runs. */
export const INBOX_SIZE = 8;

interface Asked {
  readonly facts: HoldFacts;
  readonly item: Item;
  readonly target: TargetFacts;
  readonly now: Instant;
}

type Held = Omit<Blocker, 'code'>;
type Rule = readonly [code: BlockerCode, hold: (a: Asked) => Held | null];

const held = (detail: string | null = null, until: Instant | null = null): Held => ({ detail, until });

/** SPEC §3.8 in its order; `enqueue_running` (§3.1) stands with the other holds of the whole wave. */
const RULES: readonly Rule[] = [
  ['platform_paused', (a) => (a.facts.platform_paused === null ? null : held(a.facts.platform_paused.reason))],
  [
    'cluster_paused',
    (a) => (a.target.cluster_paused === null ? null : held(a.target.cluster_paused.reason, a.target.cluster_paused.until)),
  ],
  ['wave_paused', (a) => (a.facts.wave.status === 'paused' && !inReview(a) ? held(a.facts.wave.status_reason) : null)],
  ['wave_blocked', (a) => (a.facts.wave.status === 'blocked' ? held(blockedDetail(a.facts)) : null)],
  ['wave_cancelled', (a) => (a.facts.wave.status === 'cancelled' ? held(a.facts.wave.status_reason) : null)],
  [
    'canary_review',
    (a) => (a.facts.wave.status === 'paused' && inReview(a) ? held('first batch is done; resume the wave to go on') : null),
  ],
  ['enqueue_running', (a) => (a.facts.wave.enqueue_runs.length > 0 ? held('items are still being added to the wave') : null)],
  ['agent_missing', (a) => ('missing' in a.target.agent ? held(a.target.agent.missing) : null)],
  ['agent_silent', agentSilent],
  ['cluster_critical', (a) => (a.target.cluster_state === 'CRITICAL' && !a.item.forced ? held() : null)],
  ['window_closed', (a) => (windowOpen(a) ? null : opensAt(a, a.target.calendar.window.opens_at))],
  ['freeze', (a) => (isFrozen(a.target.calendar) && !a.item.override_freeze ? frozen(a) : null)],
  ['canary_gate', canaryGate],
  ['no_free_slot', noFreeSlot],
  ['retry_backoff', (a) => (a.item.retry_after !== null && a.item.retry_after > a.now ? held(null, a.item.retry_after) : null)],
  ['contact_missing', (a) => (a.target.has_contact ? null : held())],
];

/** Everything that holds a waiting item now, in the order of SPEC §3.8. `contact_missing` is a warning and never holds. */
export function holdsOf(facts: HoldFacts, candidate: Candidate, now: Instant): Blocker[] {
  const asked: Asked = { facts, item: candidate.item, target: candidate.target, now };
  const blockers: Blocker[] = [];
  for (const [code, hold] of RULES) {
    const found = hold(asked);
    if (found !== null) blockers.push({ code, ...found });
  }
  return blockers;
}

/** Shown, but nothing waits for them. */
const REMARKS: ReadonlySet<BlockerCode> = new Set(['contact_missing', 'maintenance_active', 'verifying', 'soaking']);

export function isHolding(blocker: Blocker): boolean {
  return !REMARKS.has(blocker.code);
}

/** SPEC §3.8: now when nothing holds it, the latest end when every hold has one, else unknown (null). */
export function earliestStart(blockers: readonly Blocker[], now: Instant): Instant | null {
  let start = now;
  for (const blocker of blockers.filter(isHolding)) {
    if (blocker.until === null) return null;
    start = Math.max(start, blocker.until);
  }
  return start;
}

/** Windows do not count for this item (SPEC §3.9, §3.10). A freeze is never bypassed by these. */
export function bypassesWindow(facts: Pick<PlanFacts, 'rules'>, item: Item): boolean {
  return item.forced || item.source === 'manual' || item.window_bypassed || facts.rules.bypass_maintenance_window;
}

/** An active Maintenance counts as an open window (SPEC §1). */
export function inMaintenance(target: TargetFacts, now: Instant): boolean {
  return target.active_maintenance_until !== null && target.active_maintenance_until > now;
}

/** Items of this calendar can start as far as windows and freezes go: which ready lanes a plan reads. */
export function calendarOpen(
  facts: Pick<PlanFacts, 'rules'> & { readonly wave: Pick<PlanFacts['wave'], 'source'> },
  c: CalendarFacts,
): boolean {
  const bypassed = facts.rules.bypass_maintenance_window || facts.wave.source === 'manual';
  return (c.window.open || bypassed) && !isFrozen(c);
}

function isFrozen(c: CalendarFacts): boolean {
  return c.frozen_until !== null;
}

function inReview(a: Asked): boolean {
  return a.facts.wave.status_reason === CANARY_REVIEW;
}

function blockedDetail(facts: HoldFacts): string {
  const n = numbersOf(facts);
  return `${n.failed} of ${n.base} failed, ${n.threshold_percent}% allowed`;
}

function agentSilent(a: Asked): Held | null {
  if ('missing' in a.target.agent) return null;
  const silent = a.now - a.target.agent.last_seen;
  const limit = a.facts.rules.agent_warning_after_seconds * SECOND;
  return silent >= limit ? held(`no report for ${Math.floor(silent / SECOND)} s`) : null;
}

function windowOpen(a: Asked): boolean {
  return a.target.calendar.window.open || bypassesWindow(a.facts, a.item) || inMaintenance(a.target, a.now);
}

/** SPEC §3.8: with the next opening, also as people of that zone read it. */
function opensAt({ target, now }: Asked, until: Instant | null): Held {
  const { zone } = target.calendar.window;
  return held(until === null || zone === null ? null : describeWhen(now, until, zone), until);
}

function frozen(a: Asked): Held {
  const { detail, until } = opensAt(a, frozenUntil(a));
  const words = [detail, a.target.calendar.freeze_reason].filter((text) => text !== null);
  return held(words.length === 0 ? null : words.join('; '), until);
}

/** The end of a freeze helps only where its window is open then, or does not count. */
function frozenUntil(a: Asked): Instant | null {
  const { window, frozen_until } = a.target.calendar;
  const maintenance = a.target.active_maintenance_until;
  const byMaintenance = maintenance !== null && frozen_until !== null && maintenance > frozen_until;
  return bypassesWindow(a.facts, a.item) || byMaintenance ? frozen_until : window.opens_at;
}

function canaryGate(a: Asked): Held | null {
  const { gate } = a.facts;
  if (gate === null || a.item.forced || gate.updating < gate.places) return null;
  return held(`${gate.updating} of ${gate.places} in use`);
}

function noFreeSlot(a: Asked): Held | null {
  const n = numbersOf(a.facts);
  if (n.free <= 0) return held(`${n.in_progress + n.older_in_progress} of ${n.slots} in use`);
  const { agent } = a.target;
  if ('missing' in agent || agent.inbox_size < INBOX_SIZE) return null;
  return held(`its agent has ${agent.inbox_size} of ${INBOX_SIZE} runs open`);
}
