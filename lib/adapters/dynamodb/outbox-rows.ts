import type { Waiting } from '../../app/notify/ports.ts';
import type { Notice } from '../../app/ports.ts';
import { DAY } from '../../domain/shared/time.ts';
import { pack, unpack } from './codec.ts';
import { keys } from './keys.ts';
import type { Row } from './row.ts';
import type { Action } from './transact.ts';

const RETENTION = 30 * DAY;

/** Goes into the transaction that causes the notice. It stands in the outbox lane until it has been delivered. */
export const noticeAction = (n: Notice): Action => ({
  kind: 'put',
  row: {
    ...keys.outbox(n.id),
    ...keys.due('outbox', n.at, n.id),
    entity: 'notice',
    schema_version: 1,
    ...pack(n, {}),
    expires_at: Math.ceil((n.at + RETENTION) / 1000),
  },
});

/** null = delivered already. */
export function waitingFrom(row: Row): Waiting | null {
  if (row['gsi2sk'] === undefined) return null;
  const { tries = 0, ...notice } = unpack<Notice & { tries?: number }>(row, { organization: null, data: {} });
  return { notice, tries, next_try: Number(String(row['gsi2sk']).split('#')[0]) };
}

/** Told after each write that put notices into the outbox. */
export type Announce = (notices: readonly string[]) => Promise<void>;
export const nobody: Announce = async () => undefined;
