import { describe, expect, test } from 'vitest';
import type { NamedRoute } from '../../../lib/contracts/api/route.ts';
import { everyRoute } from '../../../lib/contracts/api/routes.ts';
import { HttpRefusal } from '../../../lib/http/failure.ts';
import { Router } from '../../../lib/http/router.ts';

const ID = '018f3b1e-7c00-7abc-8def-0123456789ab';
const router = new Router(everyRoute());

const pathOf = (path: string): string => `/api/v1/${path.replace('{id}', ID)}/`;
const everyPath = everyRoute().flatMap((route: NamedRoute) =>
  [route.spec.path, ...(route.spec.aliases ?? [])].map((path) => ({ path, method: route.spec.method, operation: route.operation })),
);

function refusalOf(work: () => unknown): HttpRefusal {
  try {
    work();
  } catch (error) {
    if (error instanceof HttpRefusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('router', () => {
  test.each(everyPath)('$method $path → $operation, with and without the last slash', ({ path, method, operation }) => {
    for (const given of [pathOf(path), pathOf(path).slice(0, -1)]) {
      const match = router.match(method, given);
      expect(match.route.operation).toBe(operation);
      expect(match.id).toBe(path.includes('{id}') ? ID : '');
    }
  });

  test('no two operations share a path and a method', () => {
    const keys = everyPath.map(({ path, method }) => `${method} ${path}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('an id in upper case is the same id', () => {
    expect(router.match('GET', `/api/v1/blocks/${ID.toUpperCase()}/`).id).toBe(ID);
  });

  test.each([
    '/api/v1/',
    '/api/v1',
    '/api/v2/blocks/',
    '/blocks/',
    '/api/v1/block/',
    '/api/v1/blocks/1/',
    '/api/v1/blocks/not-an-id/',
    `/api/v1/blocks/${ID}/nothing/`,
    `/api/v1/blocks/${ID}/archive/more/`,
    '/api/v1/blocks//',
    '/api/v1/kubernetes/',
    '/api/v1/__proto__/',
    '/api/v1/constructor/',
    '/api/v1/blocks/%2e%2e/',
  ])('%s is nothing: 404', (path) => {
    expect(refusalOf(() => router.match('GET', path)).status).toBe(404);
  });

  test('another method is 405 and says which there are', () => {
    const refusal = refusalOf(() => router.match('DELETE', '/api/v1/blocks/'));
    expect(refusal.status).toBe(405);
    expect(refusal.headers['allow']?.split(', ').sort()).toEqual(['GET', 'POST']);
    expect(refusal.problems[0]?.code).toBe('method_not_allowed');
  });
});
