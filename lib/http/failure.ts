import { AppError, type ErrorKind, type Problem } from '../app/errors.ts';
import type { Reply } from './event.ts';

/** Errors that only HTTP knows. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;
  readonly problems: readonly Problem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, problems: readonly Problem[], headers: Readonly<Record<string, string>> = {}) {
    super(problems.map((p) => p.detail).join('; '));
    this.status = status;
    this.problems = problems;
    this.headers = headers;
  }
}

export const refuse = (status: number, code: string, detail: string, headers: Readonly<Record<string, string>> = {}): HttpRefusal =>
  new HttpRefusal(status, [{ code, detail, attr: null }], headers);

/** The one table from what went wrong to a status. */
const STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  stale: 409,
  too_large: 413,
  unavailable: 503,
};

/** What the caller sees of an error; `known` is false when it is a bug and only the log may say more. */
export function failureReply(error: unknown, requestId: string): { readonly known: boolean; readonly reply: Reply } {
  if (error instanceof HttpRefusal) {
    return { known: true, reply: { status: error.status, body: body(error.status, error.problems), headers: error.headers } };
  }
  if (error instanceof AppError) return { known: true, reply: appReply(error) };
  const problem = {
    code: 'error',
    detail: `Something went wrong here. Report request ${requestId} to whoever runs this service.`,
    attr: null,
  };
  return { known: false, reply: { status: 500, body: { ...body(500, [problem]), request_id: requestId } } };
}

function appReply(error: AppError): Reply {
  const status = STATUS[error.kind];
  const headers: Record<string, string> = {};
  if (error.kind === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  if (error.retryAfterSeconds !== null) headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  const conflict = error.conflict === null ? {} : { conflict: error.conflict };
  return { status, body: { ...body(status, error.problems), ...conflict }, headers };
}

function body(status: number, problems: readonly Problem[]) {
  return { type: typeOf(status, problems), errors: problems.map(({ code, detail, attr }) => ({ code, detail, attr })) };
}

function typeOf(status: number, problems: readonly Problem[]): 'validation_error' | 'client_error' | 'server_error' {
  if (status >= 500) return 'server_error';
  return status === 400 && problems.every((p) => p.code !== 'parse_error') ? 'validation_error' : 'client_error';
}
