import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const make = async (fields: object = {}) => (await api.post('api-keys/', { name: 'second', ...fields })).body;

describe('API keys', () => {
  it('open with what was shown once, until they are revoked', async () => {
    const { id, key, prefix } = await make();
    expect(key.startsWith(prefix)).toBe(true);
    expect((await api.send('GET', 'whoami/', { key })).body).toMatchObject({
      id,
      name: 'second',
      role: 'platform_admin',
      access: 'read_write',
    });
    expect((await api.get(`api-keys/${id}/`)).body.last_used_at).not.toBeNull();
    expect((await api.send('DELETE', `api-keys/${id}/`)).status).toBe(204);
    const refused = await api.send('GET', 'whoami/', { key });
    expect([refused.status, refused.body.errors[0].code]).toEqual([401, 'authentication_failed']);
  });

  it('end at their time', async () => {
    const { key } = await make({ expires_at: new Date(api.clock.now() + 1000).toISOString() });
    expect((await api.send('GET', 'whoami/', { key })).status).toBe(200);
    api.clock.forward(1000);
    expect((await api.send('GET', 'whoami/', { key })).status).toBe(401);
    const past = await api.post('api-keys/', { name: 'x', expires_at: new Date(api.clock.now()).toISOString() });
    expect([past.status, past.body.errors[0].attr]).toEqual([400, 'expires_at']);
  });

  it('may be for reading only', async () => {
    const { key } = await make({ access: 'read' });
    expect((await api.send('GET', 'organizations/', { key })).status).toBe(200);
    expect((await api.send('POST', 'organizations/', { key, body: { name: 'x' } })).status).toBe(403);
    expect((await api.send('GET', 'api-keys/', { key })).status).toBe(403);
  });

  it('of members are not offered yet', async () => {
    const answer = await api.post('api-keys/', { name: 'm', role: 'member' });
    expect([answer.status, answer.body.errors[0].attr]).toEqual([400, 'role']);
  });

  it('are never all revoked', async () => {
    const fresh = await startApi();
    const { id } = (await fresh.get('whoami/')).body;
    expect((await fresh.send('DELETE', `api-keys/${id}/`)).status).toBe(409);
    expect((await fresh.get('whoami/')).status).toBe(200);
    await fresh.stop();
  });

  it('stand nowhere in the table or the audit', async () => {
    const { key, id } = await make();
    const { objects } = api.services.resources;
    const stored = JSON.stringify(await objects.get('access_key', id, true));
    const { ids } = await objects.listIds('audit_event', { organization: null, path: [] }, { limit: 1000 });
    const audits = JSON.stringify([...(await objects.getMany('audit_event', ids)).values()]);
    for (const text of [stored, audits]) expect(text).not.toContain(key.slice(37));
    expect(audits).toContain(id);
    expect(audits).not.toContain('secret_hash');
  });
});

describe('the manners of an answer', () => {
  it('no cache keeps it, and it has the request id', async () => {
    const { headers } = await api.get('whoami/');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-request-id': 'request-1',
      'content-type': 'application/json; charset=utf-8',
    });
  });
});
