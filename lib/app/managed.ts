import type { Managed } from '../domain/shared/fleet.ts';
import type { Instant } from '../domain/shared/time.ts';

export interface Birth {
  readonly id: string;
  readonly name: string;
  readonly now: Instant;
}

/** What every object starts with, whatever its type. */
export const newManaged = ({ id, name, now }: Birth): Managed => ({
  id,
  name,
  display_name: null,
  labels: {},
  annotations: {},
  created_at: now,
  updated_at: now,
  archived: false,
  archived_at: null,
  archived_reason: null,
  version: 0,
});
