import type { WaveRules } from '../../domain/plan/facts.ts';
import { OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig, InheritedLimits, Limits, SystemSettings } from '../../domain/shared/rollout.ts';
import type { Ids } from '../ports.ts';
import type { EngineServices } from './services.ts';

/** SPEC §1: what the seeded system config of kind `config` says, and what holds should its row be missing. */
export const SEEDED_LIMITS: Limits = {
  max_concurrent_percent: 10,
  failure_threshold_percent: 20,
  max_retries: 2,
  retry_base_seconds: 60,
  action_timeout_seconds: 3600,
  quiescence_seconds: 30,
};

const ROOT = '00000000-0000-7000-8000-000000000000';
/** The one system config of kind `config`, and the seeded one that brings the operator to the fleet (SPEC §5). */
export const systemConfigId = (ids: Ids): string => ids.child(ROOT, 'block_rollout_config', 'system');
export const operatorConfigId = (ids: Ids): string => ids.child(ROOT, 'block_rollout_config', 'operator');

/** SPEC §5: the gate counts the operator's block, whoever rolls it out. */
export const isOperatorBlock = (block_name: string): boolean => block_name === OPERATOR_BLOCK;

/** A config, the system config behind it and the settings, read fresh. */
export interface Ruling {
  /** null for a wave that no config owns. */
  readonly config: BlockRolloutConfig | null;
  readonly system: BlockRolloutConfig | null;
  readonly settings: SystemSettings;
}

export async function readRuling(services: EngineServices, config: string | null): Promise<Ruling> {
  const { objects, settings } = services;
  const [own, system, now] = await Promise.all([
    config === null ? null : objects.get('block_rollout_config', config, true),
    objects.get('block_rollout_config', systemConfigId(services.ids), true),
    settings.read(),
  ]);
  return { config: own, system, settings: now };
}

/** SPEC §1: a null number of a trigger config takes the system config's. */
export function resolveLimits(config: InheritedLimits | null, system: InheritedLimits | null): Limits {
  const of = (name: keyof Limits): number => config?.[name] ?? system?.[name] ?? SEEDED_LIMITS[name];
  return {
    max_concurrent_percent: of('max_concurrent_percent'),
    failure_threshold_percent: of('failure_threshold_percent'),
    max_retries: of('max_retries'),
    retry_base_seconds: of('retry_base_seconds'),
    action_timeout_seconds: of('action_timeout_seconds'),
    quiescence_seconds: of('quiescence_seconds'),
  };
}

/** SPEC §2.10: a wave without a config follows the system config. */
export function rulesOf({ config, system, settings }: Ruling): WaveRules {
  const c = config ?? system;
  return {
    ...resolveLimits(config, system),
    early_brake: c?.early_brake ?? false,
    hold_after_first_batch: c?.hold_after_first_batch ?? false,
    park_after_hours: c?.park_after_hours ?? 168,
    verify_version: c?.verify_version ?? true,
    soak_seconds: c?.soak_seconds ?? 0,
    allow_downgrade: c?.allow_downgrade ?? false,
    bypass_maintenance_window: c?.bypass_maintenance_window ?? false,
    auto_takeover: c?.auto_takeover ?? false,
    notify_on_wave_blocked: c?.notify_on_wave_blocked ?? true,
    agent_warning_after_seconds: settings.AGENT_WARNING_AFTER_SECONDS,
  };
}
