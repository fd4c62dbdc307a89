import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { jsonBody, queryOf, rawBody } from '../../../lib/http/body.ts';
import type { HttpEvent } from '../../../lib/http/event.ts';
import { HttpRefusal } from '../../../lib/http/failure.ts';

const LIMIT = 100;
const event = (body: string | undefined, headers: Record<string, string> = {}, isBase64Encoded = false): HttpEvent => ({
  rawPath: '/',
  headers,
  isBase64Encoded,
  requestContext: { http: { method: 'POST' } },
  ...(body === undefined ? {} : { body }),
});
function statusOf(work: () => unknown): number {
  try {
    work();
  } catch (error) {
    if (error instanceof HttpRefusal) return error.status;
    throw error;
  }
  return 200;
}
const json = (...given: Parameters<typeof event>) => jsonBody(event(...given), LIMIT);

describe('JSON bodies', () => {
  test.each([[undefined], ['']])('no body (%j) reads as an empty object', (body) => expect(json(body)).toEqual({}));
  test.each([
    ['as text', '{"a":1}', {}, false],
    ['with its type', '{"a":1}', { 'content-type': 'application/json; charset=utf-8' }, false],
    ['with a type of its family', '{"a":1}', { 'content-type': 'application/merge-patch+json' }, false],
    ['in base64', Buffer.from('{"a":1}').toString('base64'), {}, true],
    ['gzipped', gzipSync('{"a":1}').toString('base64'), { 'content-encoding': 'gzip' }, true],
  ] as const)('is read %s', (_, body, headers, base64) => expect(json(body, headers, base64)).toEqual({ a: 1 }));

  test.each([
    ['half of it', '{"a":', {}, false, 400],
    ['YAML', 'a: 1', {}, false, 400],
    ['damaged gzip', Buffer.from('{"a":1}').toString('base64'), { 'content-encoding': 'gzip' }, true, 400],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, false, 415],
    ['an unknown packing', '{}', { 'content-encoding': 'br' }, false, 415],
  ] as const)('%s is refused', (_, body, headers, base64, status) => expect(statusOf(() => json(body, headers, base64))).toBe(status));

  test('the limit counts bytes: at it is read, one more is 413', () => {
    const of = (bytes: number) => JSON.stringify('ä'.repeat((bytes - 2) / 2));
    expect(Buffer.byteLength(of(LIMIT))).toBe(LIMIT);
    expect(statusOf(() => json(of(LIMIT)))).toBe(200);
    expect(statusOf(() => json(`${of(LIMIT)} `))).toBe(413);
  });

  test('a small body that unpacks to a large one is 413', () => {
    const bomb = gzipSync(JSON.stringify('x'.repeat(10_000)));
    expect(bomb.length).toBeLessThan(LIMIT);
    expect(statusOf(() => json(bomb.toString('base64'), { 'content-encoding': 'gzip' }, true))).toBe(413);
  });

  test('bytes that are to be read later are limited as sent', () => {
    const bytes = Buffer.alloc(LIMIT + 1, 1).toString('base64');
    expect(statusOf(() => rawBody(event(bytes, {}, true), LIMIT))).toBe(413);
    expect(rawBody(event(bytes, {}, true), LIMIT + 1)?.length).toBe(LIMIT + 1);
  });
});

describe('query', () => {
  const query = (rawQueryString: string) => queryOf({ ...event(undefined), rawQueryString });
  test.each([
    ['', {}],
    ['a=1', { a: '1' }],
    ['a=1&a=2&b=%20x+y', { a: ['1', '2'], b: ' x y' }],
    ['a', { a: '' }],
  ])('%s', (text, expected) => expect(query(text)).toEqual(expected));
  test('names that objects have by themselves are names like others', () => {
    expect(Object.keys(query('__proto__=1&toString=2'))).toEqual(['__proto__', 'toString']);
  });
});
