import { CONFIG_DEFAULTS } from '../../domain/shared/defaults.ts';
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

const plainConfig = (id: string, name: string, now: Instant): Create<BlockRolloutConfig> => ({
  ...newManaged({ id, name, now }),
  ...CONFIG_DEFAULTS,
  is_system_config: true,
});
