import { ITEM_DEFAULTS } from '../../domain/shared/defaults.ts';
import type { Item } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { newManaged } from '../managed.ts';
import { SYSTEM_CALENDAR } from './calendars.ts';
import type { EngineServices } from './services.ts';

/** A waiting item about nothing yet: every field that the engine owns at its start. */
export function blankItem(services: Pick<EngineServices, 'ids'>, now: Instant): Item {
  return {
    ...newManaged({ id: services.ids.fresh(), name: '', now }),
    ...ITEM_DEFAULTS,
    block: '',
    block_name: '',
    organization: '',
    workspace: '',
    rollout: '',
    status: 'pending',
    enqueued_at: now,
    calendar: SYSTEM_CALENDAR,
  };
}
