import { AppError } from '../app/errors.ts';
import { type Caller, NO_KEY } from '../app/keys/authenticate.ts';
import type { RouteSpec } from '../contracts/api/route.ts';
import { type Access, allows, type Role } from '../domain/access/matrix.ts';
import type { HttpEvent } from './event.ts';

/** Who calls, as the authorizer found out; API Gateway hands its context on as plain texts. */

const FIELDS = ['key_id', 'name', 'prefix', 'role', 'access', 'organization', 'workspace', 'k8s_cluster', 'expires_at'] as const;

/** Authorizer contexts hold texts only; an empty one is null. */
export const callerContext = (caller: Caller): Record<string, string> =>
  Object.fromEntries(FIELDS.map((field) => [field, caller[field] === null ? '' : String(caller[field])]));

/** A key that did not open anything: the API itself answers 401 in its own words. */
export const refusalContext = (error: AppError): Record<string, string> => {
  const [problem] = error.problems;
  return { auth_error: problem?.detail ?? NO_KEY, auth_code: problem?.code ?? 'not_authenticated' };
};

export function callerOf(event: HttpEvent): Caller | null {
  const context = event.requestContext.authorizer?.lambda;
  if (context == null) return null;
  const text = (field: string): string | null => (typeof context[field] === 'string' && context[field] !== '' ? context[field] : null);
  const refusal = text('auth_error');
  if (refusal !== null)
    throw new AppError('unauthenticated', [{ code: text('auth_code') ?? 'authentication_failed', detail: refusal, attr: null }]);
  const key_id = text('key_id');
  if (key_id === null) return null;
  const expires = text('expires_at');
  return {
    key_id,
    name: text('name') ?? '',
    prefix: text('prefix') ?? '',
    role: (text('role') ?? 'member') as Role,
    access: (text('access') ?? 'read') as Access,
    organization: text('organization'),
    workspace: text('workspace'),
    k8s_cluster: text('k8s_cluster'),
    expires_at: expires === null ? null : Number(expires),
  };
}

const forbidden = (detail: string): AppError => new AppError('forbidden', [{ code: 'permission_denied', detail, attr: null }]);

/** SPEC §9 Access. What is not for members at all they may not even know of (404). */
export function authorize(caller: Caller | null, right: RouteSpec['right']): void {
  if (right === 'public') return;
  if (caller === null) throw new AppError('unauthenticated', [{ code: 'not_authenticated', detail: NO_KEY, attr: null }]);
  if (right === 'authenticated' || allows(caller.role, caller.access, right)) return;
  if (caller.role === 'agent') throw forbidden('This is an agent key; it opens /api/v1/agent/… only. Use an API key (brk_…).');
  if (caller.role === 'member')
    throw new AppError('not_found', [{ code: 'not_found', detail: 'There is nothing here for this key.', attr: null }]);
  throw forbidden('This key may only read; use one with access "read_write".');
}
