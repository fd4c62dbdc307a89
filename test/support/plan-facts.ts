import type { AgentFacts, CalendarFacts, Candidate, PlanFacts, TargetFacts, WaveRules } from '../../lib/domain/plan/facts.ts';
import { ITEM_DEFAULTS } from '../../lib/domain/shared/defaults.ts';
import type { Managed } from '../../lib/domain/shared/fleet.ts';
import type { Counters, Item, Wave } from '../../lib/domain/shared/rollout.ts';
import { HOUR, type Instant, SECOND } from '../../lib/domain/shared/time.ts';

/** Builders of what plan() gets: everything healthy, open and at rest unless told otherwise. */

/** A plain moment: Monday 2026-03-02, 10:00 UTC. */
export const NOW: Instant = 1_772_445_600_000;

export function managed(id: string): Managed {
  return {
    id,
    name: id,
    display_name: null,
    labels: {},
    annotations: {},
    created_at: NOW - HOUR,
    updated_at: NOW - HOUR,
    archived: false,
    archived_at: null,
    archived_reason: null,
    version: 1,
  };
}

/** Everything that is not named is pending. */
export function counters(total: number, parts: Partial<Omit<Counters, 'total' | 'pending'>> = {}): Counters {
  const { done = 0, in_progress = 0, failed = 0, skipped = 0 } = parts;
  return { total, done, in_progress, failed, skipped, pending: total - done - in_progress - failed - skipped };
}

export function wave(parts: Partial<Wave> = {}): Wave {
  return {
    ...managed('wave-1'),
    batch_identifier: 'b1',
    rollout_config: 'config-1',
    block_name: 'ayedo/k8s/cert-manager',
    owner_kind: null,
    target_version: '2.0.0',
    template_revision: 1,
    source: 'scheduler',
    status: 'active',
    reason: null,
    status_reason: null,
    counters: counters(10),
    quiescence_seconds: 30,
    last_item_added_at: NOW - HOUR,
    canary_reviewed: false,
    enqueue_runs: [],
    driver: 'execution-1',
    generation: 1,
    recheck_at: null,
    completed_at: null,
    ...parts,
  };
}

export function rules(parts: Partial<WaveRules> = {}): WaveRules {
  return {
    max_concurrent_percent: 100,
    failure_threshold_percent: 100,
    max_retries: 0,
    retry_base_seconds: 60,
    action_timeout_seconds: 3600,
    quiescence_seconds: 30,
    early_brake: false,
    hold_after_first_batch: false,
    park_after_hours: 168,
    verify_version: true,
    soak_seconds: 0,
    allow_downgrade: false,
    bypass_maintenance_window: false,
    auto_takeover: false,
    notify_on_wave_blocked: true,
    agent_warning_after_seconds: 180,
    ...parts,
  };
}

export function calendar(parts: Partial<CalendarFacts> = {}): CalendarFacts {
  return {
    key: 'always',
    ready: 0,
    window: { open: true, opens_at: null, closes_at: null, zone: null },
    frozen_until: null,
    freeze_reason: null,
    changes_at: null,
    ...parts,
  };
}

export const closed = (opens_at: Instant | null, parts: Partial<CalendarFacts> = {}): CalendarFacts =>
  calendar({ key: 'night', window: { open: false, opens_at, closes_at: null, zone: 'UTC' }, changes_at: opens_at, ...parts });

export const frozen = (until: Instant, parts: Partial<CalendarFacts> = {}): CalendarFacts =>
  calendar({
    key: 'frozen',
    window: { open: true, opens_at: until, closes_at: null, zone: 'UTC' },
    frozen_until: until,
    changes_at: until,
    ...parts,
  });

export function item(id: string, parts: Partial<Item> = {}): Item {
  return {
    ...managed(id),
    ...ITEM_DEFAULTS,
    block: `block-of-${id}`,
    block_name: 'ayedo/k8s/cert-manager',
    organization: 'org-1',
    workspace: 'ws-1',
    k8s_cluster: `cluster-of-${id}`,
    rollout: 'wave-1',
    rollout_config: 'config-1',
    status: 'pending',
    rendered_target_version: '2.0.0',
    template_revision: 1,
    enqueued_at: NOW - HOUR,
    calendar: 'always',
    ...parts,
  };
}

export function agent(key: string, parts: Partial<AgentFacts> = {}): AgentFacts {
  return { key, last_seen: NOW - 10 * SECOND, inbox_size: 0, ...parts };
}

export function target(parts: Partial<TargetFacts> = {}): TargetFacts {
  return {
    exists: true,
    cli_managed: false,
    demand: 'upgrade',
    cluster_paused: null,
    agent: agent('agent-1'),
    cluster_state: 'OK',
    has_contact: true,
    active_maintenance_until: null,
    installed: { version: null, app: 'app', reported: true },
    calendar: calendar(),
    ...parts,
  };
}

/** An item with an agent of its own, in the calendar of its target. */
export function candidate(id: string, itemParts: Partial<Item> = {}, targetParts: Partial<TargetFacts> = {}): Candidate {
  const t = target({ agent: agent(`agent-of-${id}`), ...targetParts });
  return { item: item(id, { calendar: t.calendar.key, ...itemParts }), target: t };
}

export function candidates(count: number): Candidate[] {
  return Array.from({ length: count }, (_, i) => candidate(`item-${String(i).padStart(4, '0')}`));
}

/** Calendars and their ready counts follow from the candidates unless given. */
export function facts(parts: Partial<PlanFacts> = {}): PlanFacts {
  const all = parts.candidates ?? [];
  return {
    wave: wave({ counters: counters(all.length) }),
    rules: rules(),
    platform_paused: null,
    older_in_progress: 0,
    gate: null,
    calendars: calendarsOf(all),
    candidates: all,
    next_parked_at: null,
    candidates_complete: true,
    lag_rounds: 0,
    next_fact_change_at: null,
    ...parts,
  };
}

export function calendarsOf(all: readonly Candidate[]): CalendarFacts[] {
  const byKey = new Map<string, CalendarFacts>();
  for (const { item: i, target: t } of all) {
    const known = byKey.get(t.calendar.key) ?? { ...t.calendar, ready: 0 };
    byKey.set(t.calendar.key, { ...known, ready: known.ready + (i.parked_until === null ? 1 : 0) });
  }
  return [...byKey.values()];
}
