import type { EnqueueRun } from '../../app/engine/enqueue-run.ts';
import type { Fire, ScheduleState, ScheduleStore, Told } from '../../app/schedules/ports.ts';
import type { Table } from './client.ts';
import { enqueueRunRow } from './enqueue-rows.ts';
import { lt, missing, or } from './expression.ts';
import { keys } from './keys.ts';
import type { Row } from './row.ts';

const ENTITY = 'schedule';

export class DynamoScheduleStore implements ScheduleStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async many(configs: readonly string[]): Promise<Map<string, ScheduleState>> {
    const rows = await this.#table.getMany(
      configs.map((id) => keys.schedule(id)),
      true,
    );
    return new Map(rows.map(stateFrom).map((state) => [state.rollout_config, state]));
  }

  async fire(config: string, { due_at, started_at, late }: Fire, run: EnqueueRun): Promise<boolean> {
    const noted = await this.#table.transact([
      {
        kind: 'update',
        key: keys.schedule(config),
        update: { set: { entity: ENTITY, due_at, started_at, late } },
        condition: or(missing('due_at'), lt('due_at', due_at)),
      },
      { kind: 'put', row: enqueueRunRow(run), condition: missing('pk') },
    ]);
    return noted.ok;
  }

  async noteTold(config: string, { told, told_at, problem }: Told): Promise<void> {
    await this.#table.update(keys.schedule(config), { set: { entity: ENTITY, told, told_at, problem } });
  }
}

function stateFrom(row: Row): ScheduleState {
  const { due_at, started_at, late, told, told_at, problem } = row as unknown as Partial<Fire & Told>;
  return {
    rollout_config: row.pk.slice(row.pk.indexOf('#') + 1),
    last_fire: due_at === undefined || started_at === undefined ? null : { due_at, started_at, late: late ?? null },
    told: told ?? null,
    told_at: told_at ?? null,
    problem: problem ?? null,
  };
}
