import { expect, it, test } from 'vitest';
import { fieldsOf } from '../../../lib/adapters/observability/line.ts';
import { systemKeyCrypto } from '../../../lib/adapters/system/key-crypto.ts';
import { makeKey } from '../../../lib/app/keys/format.ts';
import type { LogFields } from '../../../lib/contracts/telemetry/log-events.ts';

const KEY_ID = '0195a000-0000-7000-8000-000000000001';
const error = (text: string) => fieldsOf({ error: text })['error'];

test('fields that are not on the list never get into a line, whatever they are called', () => {
  const sneaked = { wave: 'w', token: 't', authorization: 'Bearer x', config: { password: 'p' }, body: '{}', secret_hash: 'h' };
  expect(fieldsOf(sneaked as LogFields)).toEqual({ wave: 'w' });
});

test('null and empty are left out; zero and false are something', () => {
  expect(fieldsOf({ item: null, reason: '', attempt: 0, forced: false })).toEqual({ attempt: 0, forced: false });
});

it.each(['brk', 'bra'] as const)('masks a key of kind %s inside a text', (kind) => {
  const { key, prefix } = makeKey(systemKeyCrypto, kind, KEY_ID);
  expect(error(`no such key: ${key}!`)).toBe('no such key: [key]!');
  expect(error(`by ops (${prefix})`)).toBe(`by ops (${prefix})`);
});

test.each([
  ['authorization: Bearer abc.def-123, host: x', 'authorization: Bearer [key], host: x'],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [key]'],
  ['AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=1\nnext', '[signature]\nnext'],
])('masks %j', (text, shown) => {
  expect(error(text)).toBe(shown);
});

test('masks a task token', () => {
  const token = 'AQCEAAAAKgAAAAMAAAAAAAAAAQ'.repeat(20);
  expect(error(`Value '${token}' at 'taskToken' failed`)).toBe("Value '[token]' at 'taskToken' failed");
});

test('leaves ids, hashes and places in the program readable', () => {
  const text = `wave ${KEY_ID} g2 ${'a'.repeat(64)}\n    at file:///var/task/node_modules/@aws-sdk/client-dynamodb/dist-es/index.js:12:3`;
  expect(error(text)).toBe(text);
});

test('a text of any length becomes a line of bounded length', () => {
  expect(String(error('a b '.repeat(10_000)))).toHaveLength(2_000);
});
