import { OPERATOR_BLOCK } from '../../domain/shared/fleet.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { AppError } from '../errors.ts';
import { newManaged } from '../managed.ts';
import type { Create } from '../ports.ts';
import { operatorConfigId, SEEDED_LIMITS, systemConfigId } from './configs.ts';
import type { EngineServices } from './services.ts';

/** SPEC §1, §5: the two system configs that every installation has. Made once; what people changed since stays. */
export async function seed(services: Pick<EngineServices, 'objects' | 'ids' | 'clock'>): Promise<void> {
  const now = services.clock.now();
  const system: Create<BlockRolloutConfig> = {
    ...plainConfig(systemConfigId(services.ids), 'defaults', now),
    ...SEEDED_LIMITS,
    kind: 'config',
  };
  const operator: Create<BlockRolloutConfig> = {
    ...plainConfig(operatorConfigId(services.ids), 'operator', now),
    kind: 'trigger',
    trigger_type: 'reconciliation',
    block_name: OPERATOR_BLOCK,
    target_version: '{{ system_config.OPERATOR_BLOCK_VERSION }}',
    // The operator gate governs (SPEC §5).
    max_concurrent_percent: 100,
  };
  for (const config of [system, operator]) {
    try {
      await services.objects.create('block_rollout_config', config);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'conflict') throw error;
    }
  }
}

function plainConfig(id: string, name: string, now: Instant): Omit<Create<BlockRolloutConfig>, 'kind'> {
  return {
    ...newManaged({ id, name, now }),
    is_system_config: true,
    active: true,
    block_name: null,
    action_name: 'install',
    trigger_type: null,
    cron_expression: null,
    time_zone: 'UTC',
    target_kind: 'k8s_cluster',
    target_organizations: [],
    target_workspaces: [],
    scope_expressions: [],
    target_version: null,
    block_config_template: null,
    template_block: null,
    template_revision: 1,
    early_brake: false,
    verify_version: true,
    soak_seconds: 0,
    hold_after_first_batch: false,
    park_after_hours: 168,
    allow_downgrade: false,
    maintenance_window: null,
    bypass_maintenance_window: false,
    auto_takeover: false,
    config_to_credential_mappings: [],
    notify_on_wave_blocked: true,
    enqueue_reason: null,
    max_concurrent_percent: null,
    failure_threshold_percent: null,
    max_retries: null,
    retry_base_seconds: null,
    action_timeout_seconds: null,
    quiescence_seconds: null,
  };
}
