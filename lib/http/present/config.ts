import type * as z from 'zod';
import type { ObjectStore } from '../../app/ports.ts';
import type { ScheduleState } from '../../app/schedules/ports.ts';
import type * as configs from '../../contracts/api/configs.ts';
import { localText } from '../../domain/recurrence/local-text.ts';
import { scheduleOf, upcomingFires } from '../../domain/recurrence/schedule.ts';
import type { BlockRolloutConfig } from '../../domain/shared/rollout.ts';
import type { Instant } from '../../domain/shared/time.ts';
import { iso, isoOrNull, managed } from './common.ts';

const FIRES = 10;

export interface ScopeNames {
  readonly organizations: ReadonlyMap<string, string>;
  readonly workspaces: ReadonlyMap<string, string>;
}

/** Names of the organizations and workspaces that the configs of a page are limited to. */
export async function scopeNames(objects: ObjectStore, rows: readonly BlockRolloutConfig[]): Promise<ScopeNames> {
  const [organizations, workspaces] = await Promise.all([
    objects.getMany('organization', [...new Set(rows.flatMap((row) => row.target_organizations))]),
    objects.getMany('workspace', [...new Set(rows.flatMap((row) => row.target_workspaces))]),
  ]);
  const names = (found: ReadonlyMap<string, { name: string }>) => new Map([...found].map(([id, { name }]) => [id, name]));
  return { organizations: names(organizations), workspaces: names(workspaces) };
}

export function config(
  value: BlockRolloutConfig,
  names: ScopeNames,
  state: ScheduleState | null,
  now: Instant,
): z.input<typeof configs.config> {
  const named = (ids: readonly string[], of: ReadonlyMap<string, string>): string[] => ids.map((id) => of.get(id) ?? id);
  const {
    version: _version,
    created_at: _created,
    updated_at: _updated,
    archived_at: _archived,
    labels: _labels,
    annotations: _annotations,
    schedule_since: _since,
    ...own
  } = value;
  return {
    ...own,
    ...managed(value, 'block_rollout_config'),
    ...timesOf(value, state, now),
    target_organizations: [...value.target_organizations],
    target_organization_names: named(value.target_organizations, names.organizations),
    target_workspaces: [...value.target_workspaces],
    target_workspace_names: named(value.target_workspaces, names.workspaces),
    scope_expressions: [...value.scope_expressions],
    config_to_credential_mappings: value.config_to_credential_mappings.map((mapping) => ({ ...mapping })),
  };
}

/** SPEC §4: the next times come from the function that fires. */
function timesOf(value: BlockRolloutConfig, state: ScheduleState | null, now: Instant) {
  const fires = upcomingFires(value, now, FIRES);
  const last = state?.last_fire ?? null;
  return {
    next_fire_at: isoOrNull(fires[0] ?? null),
    next_fires: fires.map((at) => ({ at: iso(at), local: localText(at, value.time_zone) })),
    last_fire: last === null ? null : { due_at: iso(last.due_at), started_at: iso(last.started_at), late: last.late },
    ...schedulerStatus(value, state),
  };
}

function schedulerStatus(value: BlockRolloutConfig, state: ScheduleState | null) {
  const problem = state?.problem ?? null;
  if (scheduleOf(value) === null) return problem === null ? status(null, null) : status('pending', `${NOT_REMOVED} (${problem})`);
  if (state?.told != null && problem === null) return status('ok', null);
  return status('pending', problem === null ? NOT_MADE : `${NOT_MADE} (${problem})`);
}

const status = (schedule_status: 'ok' | 'pending' | null, schedule_status_reason: string | null) => ({
  schedule_status,
  schedule_status_reason,
});
const NOT_MADE =
  'The config is saved, but the scheduler does not know it yet. It is told again each minute; until then each fire is started up to two minutes late.';
const NOT_REMOVED = 'The config does not fire any more; the scheduler has not forgotten it yet and is told again each minute.';
