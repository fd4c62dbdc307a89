import { type Instant, MINUTE } from '../shared/time.ts';
import type { AgentFacts, Candidate, DispatchOrder, ParkOrder, PlanFacts, PlanNumbers } from './facts.ts';
import { bypassesWindow, INBOX_SIZE, inMaintenance } from './holds.ts';

/** A full inbox empties by the runs in it, which may belong to other waves: looked at again soon. */
const INBOX_LOOK_AGAIN = MINUTE;

export interface Choice {
  readonly dispatch: DispatchOrder[];
  readonly park: ParkOrder[];
}

/**
 * Fills the free places in order of dispatch. Forced items pass the operator gate but count in it (SPEC §5); nothing passes
 * the slots (SPEC §3.9). An agent gets no more than its inbox holds, a block no more than one run.
 */
export function choose(facts: PlanFacts, startable: readonly Candidate[], numbers: PlanNumbers, now: Instant): Choice {
  const choice: Choice = { dispatch: [], park: [] };
  const inbox = new Map<string, number>();
  const blocks = new Set<string>();
  let gateFree = facts.gate === null ? Number.POSITIVE_INFINITY : facts.gate.places - facts.gate.updating;
  for (const candidate of startable) {
    const { item, target } = candidate;
    if ('missing' in target.agent || blocks.has(item.block)) continue;
    const used = inbox.get(target.agent.key) ?? target.agent.inbox_size;
    if (used >= INBOX_SIZE) {
      choice.park.push({ item, until: now + INBOX_LOOK_AGAIN, reason: 'no_free_slot', absent_since: null });
      continue;
    }
    if (choice.dispatch.length >= numbers.free || (gateFree <= 0 && !item.forced)) continue;
    choice.dispatch.push(dispatchOrder(facts, candidate, target.agent, now));
    inbox.set(target.agent.key, used + 1);
    blocks.add(item.block);
    gateFree -= 1;
  }
  return choice;
}

function dispatchOrder(facts: PlanFacts, candidate: Candidate, agent: AgentFacts, now: Instant): DispatchOrder {
  return {
    item: candidate.item,
    agent: agent.key,
    forced: candidate.item.forced,
    not_after: notAfter(facts, candidate, now),
    installed: candidate.target.installed,
  };
}

/**
 * SPEC §4: nothing starts at or after the window's close, whatever was decided before. A freeze that begins is a change of the
 * calendar too; where a change may be only an opening, the order merely ends early and the next plan renews it.
 */
function notAfter(facts: PlanFacts, { item, target }: Candidate, now: Instant): Instant | null {
  const { window, changes_at } = target.calendar;
  const freezeAt = item.override_freeze ? null : changes_at;
  if (bypassesWindow(facts, item)) return freezeAt;
  if (window.open) return earlier(window.closes_at, freezeAt);
  return inMaintenance(target, now) ? earlier(target.active_maintenance_until, freezeAt) : freezeAt;
}

function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
