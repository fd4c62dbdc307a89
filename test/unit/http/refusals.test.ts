import { describe, expect, test } from 'vitest';
import { AppError, conflict, type ErrorKind, stale, unavailable } from '../../../lib/app/errors.ts';
import type { Logger } from '../../../lib/app/ports.ts';
import { errorBody } from '../../../lib/contracts/api/errors.ts';
import type { AgentApi } from '../../../lib/http/agent-api.ts';
import { makeAgentApi } from '../../../lib/http/agents.ts';
import type { HttpEvent, HttpResult } from '../../../lib/http/event.ts';

const event: HttpEvent = {
  rawPath: '/api/v1/agent/health/',
  headers: { authorization: `Bearer bra_${'0'.repeat(32)}_${'x'.repeat(38)}` },
  body: '{}',
  requestContext: { requestId: 'r-1', http: { method: 'POST' } },
};

/** The heartbeat's answer when its use case ends with this error, and what was logged. */
async function answerTo(error: unknown) {
  const logged: unknown[] = [];
  const note = (level: string) => (name: string, fields?: Record<string, unknown>) => void logged.push({ level, name, ...fields });
  const log: Logger = { info: note('info'), warn: note('warn'), error: note('error') };
  const fail = () => Promise.reject(error);
  const agents: AgentApi = { recordHeartbeat: fail, claimRun: fail, reportProgress: fail, finishRun: fail, listAgentEndpoints: fail };
  const result: HttpResult = await makeAgentApi(agents, log)(event, {} as never);
  return { status: result.statusCode, headers: result.headers, body: errorBody.parse(JSON.parse(result.body)), text: result.body, logged };
}

const of = (kind: ErrorKind) => new AppError(kind, [{ code: 'x', detail: 'Because.', attr: 'a.b' }]);

describe('what went wrong becomes a status and the one error body', () => {
  test.each<[ErrorKind, number, string]>([
    ['invalid', 400, 'validation_error'],
    ['unauthenticated', 401, 'client_error'],
    ['forbidden', 403, 'client_error'],
    ['not_found', 404, 'client_error'],
    ['conflict', 409, 'client_error'],
    ['stale', 409, 'client_error'],
    ['too_large', 413, 'client_error'],
    ['unavailable', 503, 'server_error'],
  ])('%s → %i', async (kind, status, type) => {
    const answer = await answerTo(of(kind));
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ type, errors: [{ code: 'x', detail: 'Because.', attr: 'a.b' }] });
  });

  test('401 says how to authenticate', async () => {
    expect((await answerTo(of('unauthenticated'))).headers['www-authenticate']).toBe('Bearer');
  });

  test('503 says when to try again, in whole seconds', async () => {
    expect((await answerTo(unavailable('Busy.'))).headers['retry-after']).toBe('1');
  });

  test('409 names what stands in the way', async () => {
    const answer = await answerTo(conflict('Taken.', { id: 'i', url: '/api/v1/block-rollout-items/i/' }));
    expect(answer.body).toMatchObject({ errors: [{ code: 'conflict' }], conflict: { id: 'i', url: '/api/v1/block-rollout-items/i/' } });
    expect((await answerTo(stale('Changed.'))).body.conflict).toBeUndefined();
  });

  test.each([
    ['an error', new Error('secret of the table')],
    ['a text', 'secret of the table'],
    ['nothing', undefined],
  ])('%s that nobody meant to throw is told by its request id only, and logged once', async (_, error) => {
    const answer = await answerTo(error);
    expect(answer.status).toBe(500);
    expect(answer.body.type).toBe('server_error');
    expect(answer.body.request_id).toBe('r-1');
    expect(answer.text).not.toContain('secret');
    expect(answer.logged).toHaveLength(1);
    expect(answer.logged[0]).toMatchObject({ level: 'error', request_id: 'r-1' });
  });

  test('nothing may be kept by a cache on the way', async () => {
    expect((await answerTo(of('not_found'))).headers['cache-control']).toBe('no-store');
  });
});
