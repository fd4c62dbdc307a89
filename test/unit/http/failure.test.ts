import { describe, expect, it } from 'vitest';
import { AppError, conflict, invalid, notFound, stale, unavailable } from '../../../lib/app/errors.ts';
import { errorBody } from '../../../lib/contracts/api/errors.ts';
import { failureReply, refuse } from '../../../lib/http/failure.ts';

const of = (error: unknown) => failureReply(error, 'request-7').reply;
const plain = (kind: ConstructorParameters<typeof AppError>[0]) => new AppError(kind, [{ code: 'x', detail: 'Why.', attr: null }]);

describe('errors become answers in one place', () => {
  it.each([
    [invalid('name', 'is wrong.'), 400, 'validation_error'],
    [refuse(400, 'parse_error', 'Not JSON.'), 400, 'client_error'],
    [plain('unauthenticated'), 401, 'client_error'],
    [plain('forbidden'), 403, 'client_error'],
    [notFound('Block 1'), 404, 'client_error'],
    [refuse(405, 'method_not_allowed', 'No.'), 405, 'client_error'],
    [conflict('It exists.'), 409, 'client_error'],
    [stale('It changed.'), 409, 'client_error'],
    [plain('too_large'), 413, 'client_error'],
    [refuse(415, 'unsupported_media_type', 'No.'), 415, 'client_error'],
    [unavailable('Later.'), 503, 'server_error'],
    [new TypeError('secret detail'), 500, 'server_error'],
    ['thrown text', 500, 'server_error'],
  ])('%s', (error, status, type) => {
    const reply = of(error);
    expect(reply.status).toBe(status);
    expect(errorBody.parse(reply.body).type).toBe(type);
  });

  it('names what stands in the way', () => {
    const body = errorBody.parse(of(conflict('Active.', { id: 'i', url: '/api/v1/block-rollout-items/i/' })).body);
    expect(body.conflict).toEqual({ id: 'i', url: '/api/v1/block-rollout-items/i/' });
  });

  it('tells when to try again', () => {
    expect(of(unavailable('Later.')).headers?.['retry-after']).toBe('1');
  });

  it('tells nothing of a bug but the request id', () => {
    const text = JSON.stringify(of(new Error('password=hunter2')).body);
    expect(text).not.toContain('hunter2');
    expect(text).toContain('request-7');
  });
});
