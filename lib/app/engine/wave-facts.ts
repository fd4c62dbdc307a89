import { gatePlaces } from '../../domain/operator/gate.ts';
import type { CalendarFacts, Candidate, GateFacts, PlanFacts } from '../../domain/plan/facts.ts';
import type { Item } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { alwaysOpen, calendarKey, calendarsOf } from './calendars.ts';
import { isOperatorBlock, type Ruling, readRuling, rulesOf } from './configs.ts';
import { type Maintenances, readMaintenances } from './maintenances.ts';
import type { GateState, WaveState } from './ports.ts';
import type { EngineServices } from './services.ts';
import { readTargets, targetFactsOf } from './target-facts.ts';

/** A wave's facts without its candidates: enough for limits, and for what an item's read says. */
export interface WaveFrame {
  readonly state: WaveState;
  readonly ruling: Ruling;
  readonly gate: (GateFacts & GateState) | null;
  readonly older_in_progress: number;
  readonly calendars: readonly CalendarFacts[];
  readonly maintenances: Maintenances;
}

export async function readFrame(services: EngineServices, wave: string, now: Instant): Promise<WaveFrame | null> {
  const state = await services.engine.wave(wave);
  if (state === null) return null;
  const [ruling, older_in_progress, maintenances] = await Promise.all([
    readRuling(services, state.wave.rollout_config),
    olderInProgress(services, state),
    readMaintenances(services, now),
  ]);
  const gate = isOperatorBlock(state.wave.block_name) ? await readGate(services, ruling.settings.OPERATOR_ROLLOUT_PERCENTAGE) : null;
  const lanes = state.ready.filter(({ count }) => count > 0).map(({ calendar, count }) => ({ key: calendar, ready: count }));
  const calendars = [...(await calendarsOf(services, ruling, lanes, now)).values()];
  return { state, ruling, gate, older_in_progress, calendars, maintenances };
}

/** SPEC §5: places of the fleet's active, unpaused clusters. */
export async function readGate(services: EngineServices, percentage: number): Promise<GateFacts & GateState> {
  const [gate, fleet] = await Promise.all([services.engine.gate(), services.engine.fleet()]);
  return { ...gate, places: gatePlaces(fleet.clusters - fleet.paused, percentage), updating: gate.started - gate.ended };
}

/** SPEC §3.4: what older waves of the same (config, owner kind) still run. Manual waves have limits of their own. */
async function olderInProgress(services: EngineServices, { wave }: WaveState): Promise<number> {
  if (wave.rollout_config === null) return 0;
  const running = await services.engine.runningWaves(wave.rollout_config, wave.owner_kind);
  const older = await Promise.all(running.filter((id) => id < wave.id).map((id) => services.engine.wave(id)));
  return older.reduce((sum, s) => sum + (s?.wave.counters.in_progress ?? 0), 0);
}

/** The plan's facts (without the candidates). */
export function planFactsOf(frame: WaveFrame): PlanFacts {
  return {
    wave: frame.state.wave,
    rules: rulesOf(frame.ruling),
    platform_paused: frame.ruling.settings.ROLLOUTS_PAUSED,
    older_in_progress: frame.older_in_progress,
    gate: frame.gate,
    calendars: frame.calendars,
    candidates: [],
    next_parked_at: null,
    candidates_complete: true,
    lag_rounds: frame.state.lag_rounds,
    next_fact_change_at: frame.maintenances.changes_at,
  };
}

/** Facts of these items' targets, in the same order; items that moved on meanwhile are left out. */
export async function readCandidates(
  services: EngineServices,
  frame: WaveFrame,
  itemIds: readonly string[],
  now: Instant,
): Promise<Candidate[]> {
  const found = await services.engine.items(itemIds);
  const items = itemIds.flatMap((id) => found.get(id) ?? []).filter((i) => i.status === 'pending' || i.status === 'retrying');
  if (items.length === 0) return [];
  const rows = await readTargets(services, items);
  // By what workspace and organization say now: the item may stand in the lane of what they said when it was enqueued.
  const keyOf = (item: Item): string => calendarKey(rows.workspaces.get(item.workspace), rows.organizations.get(item.organization));
  const lanes = [...new Set(items.map(keyOf))].map((key) => ({ key, ready: 0 }));
  const calendars = await calendarsOf(services, frame.ruling, lanes, now);
  return Promise.all(
    items.map(async (item) => ({
      item,
      target: await targetFactsOf(
        services,
        rows,
        item,
        frame.ruling,
        calendars.get(keyOf(item)) ?? alwaysOpen(0),
        frame.maintenances.until(item),
        now,
      ),
    })),
  );
}

/**
 * What a decision rested on, as one text: the driver writes it with its token and reads again; when it differs, something moved between plan
 * and wait, and it looks at once (DESIGN §4 wake-ups without loss).
 */
export function fingerprint(services: Pick<EngineServices, 'digest'>, frame: WaveFrame): string {
  const { state, ruling, gate, calendars } = frame;
  const { total, failed, skipped } = state.wave.counters;
  const ready = state.ready.reduce((sum, r) => sum + r.count, 0);
  return [
    state.wave.status,
    state.wave.enqueue_runs.length,
    [total, state.started, state.ended, failed, skipped, ready].join('.'),
    ruling.settings.revision,
    `${ruling.config?.version ?? 0}.${ruling.system?.version ?? 0}`,
    gate === null ? '-' : `${gate.started}.${gate.ended}.${gate.places}`,
    frame.older_in_progress,
    services.digest(calendars.map((c) => JSON.stringify([c.key, c.window, c.frozen_until])).join()),
  ].join('/');
}
