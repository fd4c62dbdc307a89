import type { Criticality } from '../shared/fleet.ts';

/** SPEC §1: the workspace's own, else its organization's, else medium. */
export function effectiveCriticality(workspace: Criticality | null, organization: Criticality | null): Criticality {
  return workspace ?? organization ?? 'medium';
}
