import type { Item } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { newManaged } from '../managed.ts';
import { SYSTEM_CALENDAR } from './calendars.ts';
import type { EngineServices } from './services.ts';

/** A waiting item about nothing yet: every field that the engine owns at its start. */
export function blankItem(services: Pick<EngineServices, 'ids'>, now: Instant): Item {
  return {
    ...newManaged({ id: services.ids.fresh(), name: '', now }),
    block: '',
    block_name: '',
    organization: '',
    workspace: '',
    k8s_cluster: null,
    rollout: '',
    rollout_config: null,
    action_name: 'install',
    status: 'pending',
    source: 'scheduler',
    source_user: null,
    reason: null,
    rendered_target_version: null,
    config_hash: null,
    template_revision: 0,
    retry_count: 0,
    retry_after: null,
    action_run: null,
    attempts: [],
    tries: 0,
    dispatched_at: null,
    completed_at: null,
    enqueued_at: now,
    forced: false,
    override_freeze: false,
    window_bypassed: false,
    allow_downgrade: false,
    in_maintenance: false,
    criticality: 'medium',
    calendar: SYSTEM_CALENDAR,
    parked_until: null,
    park_reason: null,
    absent_since: null,
  };
}
