import { stale } from '../../app/errors.ts';
import type { Also, SettingsStore } from '../../app/ports.ts';
import type { SystemSettings } from '../../domain/shared/rollout.ts';
import type { Table } from './client.ts';
import { eq, missing } from './expression.ts';
import { keys } from './keys.ts';
import type { Action } from './transact.ts';

/** SPEC §1: what SystemConfig holds before anybody has written it. */
export const SEEDED_SETTINGS: SystemSettings = {
  revision: 0,
  OPERATOR_BLOCK_VERSION: null,
  OPERATOR_ROLLOUT_PERCENTAGE: 100,
  AGENT_REPORT_INTERVAL_SECONDS: 60,
  AGENT_WARNING_AFTER_SECONDS: 180,
  AGENT_CRITICAL_AFTER_SECONDS: 300,
  RESYNC_MINUTES: 60,
  RETENTION_DAYS: 90,
  AUDIT_RETENTION_DAYS: 400,
  ROLLOUTS_PAUSED: null,
  default_window: null,
  free: {},
};

export class DynamoSettingsStore implements SettingsStore {
  readonly #table: Table;
  readonly #also: (also: Also) => Action[];

  constructor(table: Table, also: (also: Also) => Action[]) {
    this.#table = table;
    this.#also = also;
  }

  async read(): Promise<SystemSettings> {
    const row = await this.#table.get(keys.settings(), true);
    return row === null
      ? SEEDED_SETTINGS
      : { ...SEEDED_SETTINGS, ...(row['value'] as SystemSettings), revision: row['revision'] as number };
  }

  async write(before: SystemSettings, after: SystemSettings, also: readonly Also[]): Promise<SystemSettings> {
    const result = await this.#table.transact([settingsAction(before, after), ...also.flatMap(this.#also)]);
    if (!result.ok) throw stale('The system config was changed by somebody else meanwhile; read it again and repeat.');
    return { ...after, revision: before.revision + 1 };
  }
}

/** Writes the settings if nobody has since they were read. */
export function settingsAction(before: SystemSettings, after: SystemSettings): Action {
  const { revision: _, ...value } = after;
  const row = { ...keys.settings(), entity: 'settings', schema_version: 1, revision: before.revision + 1, value };
  return {
    kind: 'put',
    row: after.ROLLOUTS_PAUSED === null ? row : { ...row, rollouts_paused: true },
    condition: before.revision === 0 ? missing('pk') : eq('revision', before.revision),
  };
}
