import type { Table } from '../lib/adapters/dynamodb/client.ts';
import { keys } from '../lib/adapters/dynamodb/keys.ts';
import type { ExecutionLog, LoggedExecution } from './engine.ts';

/** Running executions as rows of the table: what a crash of this process leaves behind. */
export function tableExecutionLog(table: Table): ExecutionLog {
  return {
    async put({ name, machine, started_at }) {
      await table.update(keys.execution(name), { set: { entity: 'execution', schema_version: 1, machine, started_at } });
    },
    async list() {
      const rows = await table.queryAll({ pk: keys.execution('').pk, consistent: true });
      return rows.map(
        (row): LoggedExecution => ({
          name: row.sk,
          machine: row['machine'] === 'enqueue' ? 'enqueue' : 'wave',
          started_at: Number(row['started_at']),
        }),
      );
    },
    async remove(name) {
      await table.transact([{ kind: 'delete', key: keys.execution(name) }]);
    },
  };
}
