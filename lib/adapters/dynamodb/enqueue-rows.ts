import type { EnqueueRun } from '../../app/engine/enqueue-run.ts';
import { DAY } from '../../domain/shared/time.ts';
import { pack, unpack } from './codec.ts';
import { keys } from './keys.ts';
import type { Row } from './row.ts';

const DEFAULTS: Partial<EnqueueRun> = {
  rollout_config: null,
  clusters: [],
  workspaces: [],
  organizations: [],
  scheduled_for: null,
  allow_downgrade: false,
  requested_by: null,
  configs: [],
  enqueued: 0,
  looked_at: 0,
  finished_at: null,
  generation: 0,
  page_offset: 0,
  manual_wave: null,
  late: null,
};

/** Done runs leave the due lane and go away after 30 days. */
export function enqueueRunRow(run: EnqueueRun): Row {
  const { waves, ...rest } = run;
  return {
    ...keys.enqueueRun(run.id),
    entity: 'enqueue_run',
    schema_version: 1,
    ...pack(rest, DEFAULTS),
    ...(waves.length > 0 ? { waves: new Set(waves) } : {}),
    ...(run.status === 'open' ? keys.due('enqueue', run.look_again_at, run.id) : {}),
    ...(run.status === 'done' ? { expires_at: Math.ceil(((run.finished_at ?? run.created_at) + 30 * DAY) / 1000) } : {}),
  };
}

export function enqueueRunFrom(row: Row): EnqueueRun {
  const run = unpack<EnqueueRun>(row, DEFAULTS);
  const waves = row['waves'] instanceof Set ? ([...row['waves']] as string[]) : [];
  return { ...run, id: decodeURIComponent(run.id), waves };
}
