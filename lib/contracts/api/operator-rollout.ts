import * as z from 'zod';
import { appState, blocker, id, instantOut } from './common.ts';

/** SPEC §5: the operator on the fleet. */

export const rolloutStatus = z.enum([
  ...(['paused', 'updating', 'retrying', 'failed', 'gated', 'queued', 'not_installed', 'update_available', 'ahead', 'up_to_date'] as const),
]);
const whole = z.number().int();

export const operatorRow = z
  .object({
    cluster_id: id,
    cluster: z.string(),
    workspace_id: id,
    workspace: z.string(),
    organization_id: id,
    organization: z.string(),
    installed_version: z.string().nullable(),
    desired_version: z.string().nullable(),
    last_seen: instantOut.nullable(),
    silent_for_seconds: whole.nullable(),
    state: appState.nullable(),
    rollout_status: rolloutStatus,
    blockers: z.array(blocker),
    earliest_start: instantOut.nullable(),
    rollout: id.nullable(),
    item: id.nullable(),
  })
  .meta({ id: 'OperatorRow' });

export const operatorRollout = z
  .object({
    summary: z.object({
      clusters: whole,
      desired_version: z.string().nullable(),
      percentage: whole,
      gate_places: whole,
      gate_updating: whole,
      by_status: z.record(z.string(), whole),
      by_state: z.record(z.string(), whole),
      stuck: whole,
    }),
    histogram: z.array(z.object({ version: z.string().nullable(), count: whole })),
    count: whole,
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(operatorRow),
  })
  .meta({ id: 'OperatorRollout' });

export const clusterPaused = z.object({ cluster_id: id, paused: z.boolean() }).meta({ id: 'ClusterPaused' });
