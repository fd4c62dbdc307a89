import type { Instant } from '../domain/shared/time.ts';

/** What to do with a request that carries an `Idempotency-Key` (SPEC §9: honoured on every POST). */
export type Begun =
  /** Nobody has sent this key: do it, then `finish` (or `release` when nothing was done). */
  | { readonly kind: 'fresh' }
  /** Done before: this was the answer. */
  | { readonly kind: 'replay'; readonly status: number; readonly body: unknown }
  /** The key was used for another request. */
  | { readonly kind: 'mismatch' }
  /** The first request with this key has no answer yet. */
  | { readonly kind: 'in_progress' };

/** Answers by (owner of the API key, Idempotency-Key), for 24 hours. */
export interface IdempotencyStore {
  /**
   * `request_hash` covers method, path and body. A request without an answer after 60 s is taken to be lost: its repetition is fresh. Every
   * POST must therefore be safe to do twice; what is saved here is the answer, not the safety.
   */
  begin(owner: string, key: string, request_hash: string, now: Instant): Promise<Begun>;
  /** The first answer stays. Secrets must have been taken out of `body`. */
  finish(owner: string, key: string, status: number, body: unknown): Promise<void>;
  /** The request was refused and did nothing (5xx, 429): the next one with this key may try again at once. */
  release(owner: string, key: string): Promise<void>;
}
