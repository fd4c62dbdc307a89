import type { GaugeStore, MeasuredGauges } from '../../app/ports.ts';
import type { Table } from './client.ts';
import { lt, missing, or } from './expression.ts';
import { keys } from './keys.ts';

export class DynamoGaugeStore implements GaugeStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async read(): Promise<MeasuredGauges | null> {
    const row = await this.#table.get(keys.gauges());
    return row === null ? null : { at: Number(row['at']), gauges: row['gauges'] as MeasuredGauges['gauges'] };
  }

  async write({ at, gauges }: MeasuredGauges): Promise<void> {
    await this.#table.update(keys.gauges(), { set: { entity: 'gauges', at, gauges } }, or(missing('pk'), lt('at', at)));
  }
}
