import type { Instant } from '../../domain/shared/time.ts';
import type { Clock, Logger, Notice, Notifier } from '../ports.ts';

/** A notice that has not been delivered yet. */
export interface Waiting {
  readonly notice: Notice;
  /** How often somebody has set out to deliver it. */
  readonly tries: number;
  readonly next_try: Instant;
}

/** Undelivered notices. Nothing is ever looked for by reading through the table. */
export interface OutboxStore {
  /** Those whose next try has come, the longest waiting first. The index may lag. */
  due(now: Instant, limit: number): Promise<readonly Waiting[]>;
  /** Of these, those that still wait; strong. */
  named(ids: readonly string[]): Promise<readonly Waiting[]>;
  /** Takes it for one try and puts the next one off to `next_try`; false = somebody else was faster. */
  claim(waiting: Waiting, next_try: Instant): Promise<boolean>;
  /** Ends it, unless it has been claimed again since this claim. */
  delivered(waiting: Waiting, at: Instant): Promise<void>;
}

/** What the outbox function works with; it needs nothing else of the program. */
export interface NoticeServices {
  readonly outbox: OutboxStore;
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly log: Logger;
}
