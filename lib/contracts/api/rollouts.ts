import * as z from 'zod';
import { blocker, id, idIn, instantIn, instantOut, itemStatus, reason, runStatus, source, waveStatus } from './common.ts';
import { managedOut, reference, requestObject } from './managed.ts';

/** SPEC §3, §7, §9: waves, items and attempts. */

const whole = z.number().int();

const waveOut = {
  ...managedOut,
  batch_identifier: z.string(),
  rollout_config: id.nullable(),
  block_name: z.string(),
  owner_kind: z.string().nullable(),
  target_version: z.string().nullable(),
  source,
  /** Why it was opened, where that is worth a word, e.g. `late: due 2026-11-27T22:00Z` for a fire that was missed. */
  reason: z.string().nullable(),
  status: waveStatus,
  status_reason: z.string().nullable(),
  is_terminal: z.boolean(),
  total_items: whole,
  dispatched_items: whole,
  in_progress_items: whole,
  completed_items: whole,
  pending_items: whole,
  failed_items: whole,
  skipped_items_count: whole,
  /** 0–100 (SPEC §3.5). */
  failure_rate: z.number(),
  quiescence_seconds: whole,
  last_item_added_at: instantOut.nullable(),
  completed_at: instantOut.nullable(),
  recheck_at: instantOut.nullable(),
};
export const wave = z.object(waveOut).meta({ id: 'BlockRollout' });
export const waveDetail = z
  .object({
    ...waveOut,
    slots: whole,
    free_slots: whole,
    failures_by_reason: z.array(z.object({ reason: z.string(), count: whole, sample_run: id.nullable() })),
  })
  .meta({ id: 'BlockRolloutDetail' });

/** A PATCH of `status` is the verb of that name (SPEC §9); everything else is the engine's and dropped. */
export const updateWave = requestObject({ status: waveStatus.exactOptional(), reason: reason.nullable().exactOptional() }, [
  ...Object.keys(waveOut),
  ...['slots', 'free_slots', 'failures_by_reason', 'rollout_config_data', 'organization', 'workspace', 'kind', 'criticality'],
]).meta({ id: 'UpdateBlockRollout' });

export const retryWave = z.strictObject({ items: z.array(idIn).min(1).max(1000).exactOptional() }).meta({ id: 'RetryBlockRollout' });
export const waveRetried = z
  .object({
    ...waveOut,
    retried: whole,
    conflicts: z.array(z.object({ item: id, conflict: z.object({ id, url: z.string() }) })),
    still_to_retry_or_skip: whole,
  })
  .meta({ id: 'BlockRolloutRetried' });

const itemOut = {
  ...managedOut,
  organization: reference.nullable(),
  workspace: reference.nullable(),
  k8s_cluster: id.nullable(),
  block: id,
  block_name: z.string(),
  rollout: id,
  rollout_config: id.nullable(),
  action_name: z.string(),
  status: itemStatus,
  source,
  source_user: z.string().nullable(),
  reason: z.string().nullable(),
  rendered_target_version: z.string().nullable(),
  retry_count: whole,
  retry_after: instantOut.nullable(),
  action_run: id.nullable(),
  attempts: z.array(id),
  enqueued_at: instantOut,
  dispatched_at: instantOut.nullable(),
  completed_at: instantOut.nullable(),
  forced: z.boolean(),
};
export const item = z.object(itemOut).meta({ id: 'BlockRolloutItem' });
export const itemDetail = z
  .object({ ...itemOut, blockers: z.array(blocker), earliest_start: instantOut.nullable() })
  .meta({ id: 'BlockRolloutItemDetail' });

/** Creating an item is the manual trigger of one block. */
export const createItem = requestObject(
  {
    block: idIn,
    action_name: z.string().min(1).max(100).exactOptional(),
    reason: reason.nullable().exactOptional(),
    allow_downgrade: z.boolean().exactOptional(),
  },
  [...Object.keys(itemOut), 'blockers', 'earliest_start'],
).meta({ id: 'CreateBlockRolloutItem' });

/** Overriding a freeze needs a reason, which is audited (SPEC §3.9). */
export const forceItem = z
  .strictObject({ override_freeze: z.boolean().exactOptional(), reason: reason.nullable().exactOptional() })
  .check((ctx) => {
    if (ctx.value.override_freeze !== true || typeof ctx.value.reason === 'string') return;
    ctx.issues.push({
      code: 'custom',
      params: { code: 'required' },
      path: ['reason'],
      message: 'is required with override_freeze: say why the freeze does not count here',
      input: ctx.value,
    });
  })
  .meta({ id: 'ForceItem' });

const runOut = {
  ...managedOut,
  organization: reference.nullable(),
  workspace: reference.nullable(),
  k8s_cluster: id.nullable(),
  block: z.object({ id, name: z.string(), url: z.string() }),
  rollout: z.object({ id, url: z.string() }).nullable(),
  item: id.nullable(),
  agent: z.string(),
  action: z.string(),
  attempt: whole,
  status: runStatus,
  /** Where an open attempt stands: queued, executing, verifying, soaking; ended. */
  phase: z.string(),
  status_reason: z.string().nullable(),
  exit_code: whole.nullable(),
  cancel_requested: z.boolean(),
  rendered_target_version: z.string().nullable(),
  dispatched_at: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
  deadline: instantOut,
};
export const actionRun = z.object(runOut).meta({ id: 'ActionRun' });
export const actionRunDetail = z
  .object({ ...runOut, log_stdout: z.string().nullable(), log_stderr: z.string().nullable() })
  .meta({ id: 'ActionRunDetail' });

/** What an agent sees of its run; `config` only in the claim's answer, while the run is open and the caller holds it. */
const agentRunOut = {
  id,
  block: id,
  block_name: z.string(),
  action: z.string(),
  attempt: whole,
  status: runStatus,
  status_reason: z.string().nullable(),
  exit_code: whole.nullable(),
  cancel_requested: z.boolean(),
  rendered_target_version: z.string().nullable(),
  deadline: instantOut,
  started_at: instantOut.nullable(),
  finished_at: instantOut.nullable(),
};
export const agentRun = z.object(agentRunOut).meta({ id: 'AgentRun' });
export const claimedRun = z.object({ ...agentRunOut, config: z.record(z.string(), z.unknown()).nullable() }).meta({ id: 'ClaimedRun' });

export const pauseCluster = z
  .strictObject({ reason: reason.nullable().exactOptional(), until: instantIn.nullable().exactOptional() })
  .meta({
    id: 'PauseCluster',
  });
