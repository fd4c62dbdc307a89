import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR } from '../../../lib/domain/shared/time.ts';
import { type Api, startApi } from '../../support/api.ts';
import { makeFleet } from '../../support/api-fleet.ts';

let api: Api;
let fleet: Awaited<ReturnType<typeof makeFleet>>;
beforeAll(async () => {
  api = await startApi();
  fleet = await makeFleet(api);
});
afterAll(() => api.stop());

const post = (path: string, body: unknown, idempotencyKey: string, key?: string) =>
  api.send('POST', path, { body, headers: { 'idempotency-key': idempotencyKey }, ...(key === undefined ? {} : { key }) });

describe('Idempotency-Key (SPEC §9)', () => {
  test('what succeeded is answered again, not done again', async () => {
    const first = await post('organizations/', { name: 'once' }, 'k-1');
    const again = await post('organizations/', { name: 'once' }, 'k-1');
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await api.get('organizations/?name=once')).body.count).toBe(1);
  });

  test('without it the second is 409', async () => {
    await api.post('organizations/', { name: 'twice' });
    expect((await api.post('organizations/', { name: 'twice' })).status).toBe(409);
  });

  test('many at once do it once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('organizations/', { name: 'many' }, 'k-2')));
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    expect((await api.get('organizations/?name=many')).body.count).toBe(1);
  });

  test('for another request it is refused by name', async () => {
    await post('organizations/', { name: 'mine' }, 'k-3');
    for (const other of [
      post('organizations/', { name: 'other' }, 'k-3'),
      post('workspaces/', { name: 'mine', organization: fleet.organization.id }, 'k-3'),
    ]) {
      const answer = await other;
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toMatchObject([{ attr: 'Idempotency-Key', code: 'invalid' }]);
    }
  });

  test('each caller has keys of their own', async () => {
    const second = (await api.post('api-keys/', { name: 'second' })).body.key;
    await post('organizations/', { name: 'first caller' }, 'k-4');
    expect((await post('organizations/', { name: 'second caller' }, 'k-4', second)).status).toBe(201);
  });

  test('what was refused may be tried again under the same key', async () => {
    const body = { name: 'later', organization: fleet.organization.id, maintenance_window: '018f3b1e-7c00-7abc-8def-0123456789ab' };
    expect((await post('workspaces/', body, 'k-5')).status).toBe(400);
    expect((await post('workspaces/', { name: 'later', organization: fleet.organization.id }, 'k-5')).status).toBe(201);
  });

  test('a repeated answer does not show a new key a second time', async () => {
    const body = { name: 'shown once', workspace: fleet.workspace.id };
    const first = await post('agent-keys/', body, 'k-6');
    const again = await post('agent-keys/', body, 'k-6');
    expect(first.body.key).toMatch(/^bra_/);
    expect(first.body.manifest).toContain(first.body.key);
    expect(again.body).toEqual({ ...first.body, key: null, manifest: null });
  });

  test('is kept for 24 hours', async () => {
    await post('organizations/', { name: 'yesterday' }, 'k-7');
    api.clock.forward(25 * HOUR);
    expect((await post('organizations/', { name: 'yesterday' }, 'k-7')).status).toBe(409);
  });

  test.each([['two words'], ['x'.repeat(256)], ['ключ']])('%j is not one', async (key) => {
    expect((await post('organizations/', { name: 'x' }, key)).status).toBe(400);
  });
});
