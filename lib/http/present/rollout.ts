import type * as z from 'zod';
import type { WaveView } from '../../app/engine/views.ts';
import type { OperatorRow } from '../../app/operator/rows.ts';
import { urlOf } from '../../app/urls.ts';
import type * as operator from '../../contracts/api/operator-rollout.ts';
import type * as rollouts from '../../contracts/api/rollouts.ts';
import type { ActionRun, Item, Wave } from '../../domain/shared/rollout.ts';
import { baseOf } from '../../domain/wave/counters.ts';
import { failureRate } from '../../domain/wave/failure.ts';
import { TERMINAL_WAVE } from '../../domain/wave/transitions.ts';
import { blocker, iso, isoOrNull, managed, type Parents } from './common.ts';

/** SPEC §3.3: Total = Done + In Progress + Pending + Failed + Skipped, in the API's words. */
export function wave(value: Wave): z.input<typeof rollouts.wave> {
  const { total, done, in_progress, pending, failed, skipped } = value.counters;
  return {
    ...managed(value, 'block_rollout'),
    name: value.name === '' ? value.batch_identifier : value.name,
    batch_identifier: value.batch_identifier,
    rollout_config: value.rollout_config,
    block_name: value.block_name,
    owner_kind: value.owner_kind,
    target_version: value.target_version,
    source: value.source,
    reason: value.reason,
    status: value.status,
    status_reason: value.status_reason,
    is_terminal: TERMINAL_WAVE.includes(value.status),
    total_items: total,
    dispatched_items: in_progress,
    in_progress_items: in_progress,
    completed_items: done,
    pending_items: pending,
    failed_items: failed,
    skipped_items_count: skipped,
    failure_rate: failureRate(failed, baseOf(value.counters)),
    quiescence_seconds: value.quiescence_seconds,
    last_item_added_at: isoOrNull(value.last_item_added_at),
    completed_at: isoOrNull(value.completed_at),
    recheck_at: isoOrNull(value.recheck_at),
  };
}

export const waveDetail = (view: WaveView): z.input<typeof rollouts.waveDetail> => ({
  ...wave(view.wave),
  failure_rate: view.failure_rate,
  slots: view.slots,
  free_slots: view.free_slots,
  failures_by_reason: view.failures_by_reason.map((entry) => ({ ...entry })),
});

const owners = (value: { organization: string; workspace: string }, parents: Parents) => ({
  organization: parents.organization(value.organization),
  workspace: parents.workspace(value.workspace),
});

export const item = (value: Item, parents: Parents): z.input<typeof rollouts.item> => ({
  ...managed(value, 'block_rollout_item'),
  name: value.name === '' ? value.block_name : value.name,
  ...owners(value, parents),
  k8s_cluster: value.k8s_cluster,
  block: value.block,
  block_name: value.block_name,
  rollout: value.rollout,
  rollout_config: value.rollout_config,
  action_name: value.action_name,
  status: value.status,
  source: value.source,
  source_user: value.source_user,
  reason: value.reason,
  rendered_target_version: value.rendered_target_version,
  retry_count: value.retry_count,
  retry_after: isoOrNull(value.retry_after),
  action_run: value.action_run,
  attempts: [...value.attempts],
  enqueued_at: iso(value.enqueued_at),
  dispatched_at: isoOrNull(value.dispatched_at),
  completed_at: isoOrNull(value.completed_at),
  forced: value.forced,
});

export const actionRun = (value: ActionRun, parents: Parents): z.input<typeof rollouts.actionRun> => ({
  ...managed(value, 'action_run'),
  ...owners(value, parents),
  k8s_cluster: value.k8s_cluster,
  block: { id: value.block, name: value.block_name, url: urlOf('block', value.block) },
  rollout: value.rollout === null ? null : { id: value.rollout, url: urlOf('block_rollout', value.rollout) },
  item: value.item,
  agent: value.agent,
  action: value.action,
  attempt: value.attempt,
  status: value.status,
  phase: value.phase,
  status_reason: value.status_reason,
  exit_code: value.exit_code,
  cancel_requested: value.cancel_requested,
  rendered_target_version: value.rendered_target_version,
  dispatched_at: iso(value.dispatched_at),
  started_at: isoOrNull(value.started_at),
  finished_at: isoOrNull(value.finished_at),
  deadline: iso(value.deadline),
});

export const agentRun = (value: ActionRun): z.input<typeof rollouts.agentRun> => ({
  id: value.id,
  block: value.block,
  block_name: value.block_name,
  action: value.action,
  attempt: value.attempt,
  status: value.status,
  status_reason: value.status_reason,
  exit_code: value.exit_code,
  cancel_requested: value.cancel_requested,
  rendered_target_version: value.rendered_target_version,
  deadline: iso(value.deadline),
  started_at: isoOrNull(value.started_at),
  finished_at: isoOrNull(value.finished_at),
});

export const operatorRow = ({
  last_seen,
  silent_for,
  earliest_start,
  blockers,
  stuck: _stuck,
  ...row
}: OperatorRow): z.input<typeof operator.operatorRow> => ({
  ...row,
  last_seen: isoOrNull(last_seen),
  silent_for_seconds: silent_for === null ? null : Math.max(0, Math.floor(silent_for / 1000)),
  blockers: blockers.map(blocker),
  earliest_start: isoOrNull(earliest_start),
});
