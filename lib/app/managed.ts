import { MANAGED_DEFAULTS } from '../domain/shared/defaults.ts';
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
  ...MANAGED_DEFAULTS,
  created_at: now,
  updated_at: now,
  version: 0,
});
