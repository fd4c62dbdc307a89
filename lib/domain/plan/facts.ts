import type { AppState } from '../shared/fleet.ts';
import type { Blocker, Item, Limits, Wave, WaveStatus } from '../shared/rollout.ts';
import type { Instant } from '../shared/time.ts';

/** What the plan of one wave knows. Everything is read just before, with the wave's counters read strongly. */
export interface PlanFacts {
  readonly wave: Wave;
  readonly rules: WaveRules;
  /** SystemConfig ROLLOUTS_PAUSED. */
  readonly platform_paused: { readonly reason: string } | null;
  /** Items still running in older waves of the same (config, owner kind): subtracted from the slots (SPEC §3.4). */
  readonly older_in_progress: number;
  /** Only for the operator's block (SPEC §5). */
  readonly gate: GateFacts | null;
  readonly calendars: readonly CalendarFacts[];
  /** Ready items of open calendars and parked items whose time has come, in any order. */
  readonly candidates: readonly Candidate[];
  /** Earliest time at which a parked item that is not due yet wants to be looked at. */
  readonly next_parked_at: Instant | null;
  /** True when the candidates read are all there are; false when a page limit cut them. */
  readonly candidates_complete: boolean;
  /** How many plans in a row saw fewer ready items than the counters say (index lag, DESIGN §4). */
  readonly lag_rounds: number;
  /** Forced while the operator gate is shut etc.: the earliest time at which platform-wide facts change by themselves. */
  readonly next_fact_change_at: Instant | null;
}

/** A wave's rules: the config's limits resolved against the system config, read fresh at each decision (SPEC §1). */
export interface WaveRules extends Limits {
  readonly early_brake: boolean;
  readonly hold_after_first_batch: boolean;
  readonly park_after_hours: number;
  readonly verify_version: boolean;
  readonly soak_seconds: number;
  readonly allow_downgrade: boolean;
  readonly bypass_maintenance_window: boolean;
  readonly auto_takeover: boolean;
  readonly notify_on_wave_blocked: boolean;
  /** AGENT_WARNING_AFTER_SECONDS: an agent silent for this long gets nothing (SPEC §3.8). */
  readonly agent_warning_after_seconds: number;
}

export interface GateFacts {
  /** OPERATOR_ROLLOUT_PERCENTAGE of the active, unpaused clusters in the system config's scope (SPEC §5). */
  readonly places: number;
  /** Operator items in progress over all waves, forced ones too. */
  readonly updating: number;
}

/** One combination of windows and freezes, evaluated once per plan (DESIGN A6). */
export interface CalendarFacts {
  readonly key: string;
  /** Waiting items of this calendar that are not parked. */
  readonly ready: number;
  readonly window: {
    readonly open: boolean;
    /** The next instant from which something may start, freezes taken out; null while it may, or when it never will. */
    readonly opens_at: Instant | null;
    readonly closes_at: Instant | null;
    /** The zone in which people read these times; null = no window applies. */
    readonly zone: string | null;
  };
  /** End of the freeze that holds now; null when none does. */
  readonly frozen_until: Instant | null;
  /** What its maker wrote beside it. */
  readonly freeze_reason: string | null;
  /** When window or freeze next changes by itself; null = never. */
  readonly changes_at: Instant | null;
}

export interface Candidate {
  readonly item: Item;
  readonly target: TargetFacts;
}

/** What is known of a target at this moment; the same facts feed the plan, the item's read and the dashboard. */
export interface TargetFacts {
  /** False when block, cluster, workspace or organization is archived or gone (SPEC §2.8). */
  readonly exists: boolean;
  readonly cli_managed: boolean;
  /** Demand looked at again (SPEC §2.7): false = already at the target (or, for uninstall, already gone). */
  readonly demand: 'upgrade' | 'up_to_date' | 'installed_is_newer';
  /** A pause that is over (paused_until passed) is null. */
  readonly cluster_paused: { readonly until: Instant | null; readonly reason: string | null } | null;
  readonly agent: AgentFacts | { readonly missing: 'no_agent_token' | 'operator_config_missing' };
  /** Dashboard state: the worst of app and agent; null when never seen. */
  readonly cluster_state: AppState | null;
  readonly has_contact: boolean;
  /** What is known to be installed now, and where a report would show it. */
  readonly installed: InstalledFacts;
  readonly active_maintenance_until: Instant | null;
  readonly calendar: CalendarFacts;
}

export interface InstalledFacts {
  readonly version: string | null;
  /** Name of the app whose version tells about the block. */
  readonly app: string;
  /** An agent has reported the app at least once (SPEC §7 verify_version). */
  readonly reported: boolean;
}

export interface AgentFacts {
  /** Presence key of the agent that would get the run. */
  readonly key: string;
  readonly last_seen: Instant;
  /** The inbox holds at most 8 open runs. */
  readonly inbox_size: number;
}

export type PlanNext = 'dispatch' | 'await' | 'completed' | 'blocked' | 'cancelled' | 'replan';

/** The decision: orders to carry out, the wave's next state, when to look again, and the numbers that led to it. */
export interface Plan {
  readonly next: PlanNext;
  /** null = stays as it is. */
  readonly status: { readonly to: WaveStatus; readonly reason: string } | null;
  /** In order of dispatch (SPEC §3.7), at most as many as there are free places. */
  readonly dispatch: readonly DispatchOrder[];
  readonly park: readonly ParkOrder[];
  readonly lane: readonly LaneOrder[];
  readonly skip: readonly SkipOrder[];
  /** Never null while the wave is not terminal. */
  readonly recheck_at: Instant;
  readonly lag_rounds: number;
  readonly numbers: PlanNumbers;
}

export interface DispatchOrder {
  readonly item: Item;
  readonly agent: string;
  readonly forced: boolean;
  /** Nothing starts at or after this instant (the window's close), whatever was decided before (SPEC §4). */
  readonly not_after: Instant | null;
  readonly installed: InstalledFacts;
}
export interface ParkOrder {
  readonly item: Item;
  readonly until: Instant;
  readonly reason: Blocker['code'];
  readonly absent_since: Instant | null;
}
/**
 * Waits for a window, but not in the ready lane of its calendar: it was parked, or its workspace or organization has got a window since. There it
 * costs nothing, and a change of the window reaches it (DESIGN A6, A7).
 */
export interface LaneOrder {
  readonly item: Item;
  readonly calendar: string;
}
export interface SkipOrder {
  readonly item: Item;
  readonly reason: string;
}

export interface PlanNumbers {
  readonly slots: number;
  readonly in_progress: number;
  readonly older_in_progress: number;
  readonly free: number;
  readonly gate_places: number | null;
  readonly gate_updating: number | null;
  readonly failed: number;
  readonly base: number;
  readonly threshold_percent: number;
  /** Most failures with which the wave may still start something: the bound in the dispatch's condition. */
  readonly max_failed: number;
}
