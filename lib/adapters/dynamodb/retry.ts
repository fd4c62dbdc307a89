import { unmarshall } from '@aws-sdk/util-dynamodb';
import { unavailable } from '../../app/errors.ts';
import type { Row } from './row.ts';

/** How often and how patiently a refused call is repeated (DESIGN §4: 8 tries, full jitter, 25 ms to 1 s). */
export interface Retry {
  readonly tries: number;
  /** Waits before try number `round` + 1. */
  pause(round: number): Promise<void>;
}

export function jitteredRetry(random: () => number, tries = 8, firstMs = 25, mostMs = 1_000): Retry {
  return {
    tries,
    pause: (round) => new Promise((resolve) => setTimeout(resolve, random() * Math.min(mostMs, firstMs * 2 ** (round - 1)))),
  };
}

const TRANSIENT = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
]);

/** True when the same call may succeed a moment later: nothing was decided against it. */
export function isTransient(error: unknown): boolean {
  const { name, code, CancellationReasons: reasons } = error as { name?: string; code?: string; CancellationReasons?: { Code?: string }[] };
  if (reasons !== undefined) {
    const codes = reasons.map((r) => r.Code ?? 'None');
    // A condition that failed is an answer; it wins over a conflict beside it.
    return !codes.includes('ConditionalCheckFailed') && codes.some((c) => c !== 'None');
  }
  return TRANSIENT.has(name ?? '') || TRANSIENT.has(code ?? '');
}

export async function withRetry<T>(retry: Retry, call: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (round >= retry.tries) throw unavailable('The table is busy; try again in a moment.', error);
      await retry.pause(round);
    }
  }
}

type Marshalled = Parameters<typeof unmarshall>[0];

const plain = (item: Marshalled | undefined): Row | null =>
  item === undefined || Object.keys(item).length === 0 ? null : (unmarshall(item) as Row);

/** The row that failed a single write's condition (null = there is none); any other error is thrown on. */
export function failedRow(error: unknown): Row | null {
  const { name, Item } = error as { name?: string; Item?: Marshalled };
  if (name !== 'ConditionalCheckFailedException') throw error;
  return plain(Item);
}

/** The actions of a cancelled transaction whose condition failed; any other error is thrown on. */
export function cancellation(error: unknown): { index: number; old: Row | null }[] {
  const reasons = (error as { CancellationReasons?: { Code?: string; Item?: Marshalled }[] }).CancellationReasons ?? [];
  const failed = reasons.flatMap((reason, index) => (reason.Code === 'ConditionalCheckFailed' ? [{ index, old: plain(reason.Item) }] : []));
  if (failed.length === 0) throw error;
  return failed;
}
