import type { Json } from '../../domain/shared/fleet.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { newManaged } from '../managed.ts';
import type { AuditEvent, Create, Ids } from '../ports.ts';

/** SPEC §9: who did what to which object, before and after. Never a secret. */
export function auditOf(
  services: { ids: Ids },
  actor: string,
  action: string,
  object: { readonly type: string; readonly id: string; readonly organization: string | null },
  change: { readonly before: Json; readonly after: Json },
  now: Instant,
): Create<AuditEvent> {
  return {
    ...newManaged({ id: services.ids.fresh(), name: action, now }),
    organization: object.organization,
    actor,
    action,
    object_type: object.type,
    object_id: object.id,
    ...change,
    at: now,
  };
}
