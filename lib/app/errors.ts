/** What can go wrong, in words that know nothing of HTTP; `lib/http` maps a kind to a status. */
export type ErrorKind = 'invalid' | 'unauthenticated' | 'forbidden' | 'not_found' | 'conflict' | 'stale' | 'too_large' | 'unavailable';

export interface Problem {
  /** A code of the closed list in the API reference, e.g. `invalid`, `required`, `not_found`, `conflict`. */
  readonly code: string;
  /** A sentence for a person: what is wrong, where, what to do. */
  readonly detail: string;
  /** The field, dotted for nested ones; null when it is not about a field. */
  readonly attr: string | null;
}

export interface ConflictWith {
  readonly id: string;
  readonly url: string;
}

/** The only error that use cases throw on purpose. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly kind: ErrorKind;
  readonly problems: readonly Problem[];
  readonly conflict: ConflictWith | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    kind: ErrorKind,
    problems: readonly Problem[],
    extra: { conflict?: ConflictWith; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(problems.map((p) => (p.attr === null ? p.detail : `${p.attr}: ${p.detail}`)).join('; '), { cause: extra.cause });
    this.kind = kind;
    this.problems = problems;
    this.conflict = extra.conflict ?? null;
    this.retryAfterSeconds = extra.retryAfterSeconds ?? null;
  }
}

/** A reason as a `detail`: with a full stop, unless it ends like a sentence already. */
export const sentence = (text: string): string => (/[.!?)]$/.test(text) ? text : `${text}.`);

export const invalid = (attr: string | null, detail: string, code = 'invalid'): AppError =>
  new AppError('invalid', [{ code, detail, attr }]);
export const notFound = (what: string): AppError =>
  new AppError('not_found', [{ code: 'not_found', detail: `${what} was not found.`, attr: null }]);
export const conflict = (detail: string, with_: ConflictWith | null = null, code = 'conflict'): AppError =>
  new AppError('conflict', [{ code, detail, attr: null }], with_ === null ? {} : { conflict: with_ });
export const stale = (detail: string): AppError => new AppError('stale', [{ code: 'conflict', detail, attr: null }]);
export const unavailable = (detail: string, cause?: unknown): AppError =>
  new AppError('unavailable', [{ code: 'unavailable', detail, attr: null }], { retryAfterSeconds: 1, cause });
