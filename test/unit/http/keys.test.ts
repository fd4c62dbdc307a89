import { describe, expect, it } from 'vitest';
import { systemKeyCrypto as crypto } from '../../../lib/adapters/system/key-crypto.ts';
import { bearerToken } from '../../../lib/app/keys/authenticate.ts';
import { makeKey, readKey } from '../../../lib/app/keys/format.ts';
import { keyTokens } from '../../../lib/app/keys/tokens.ts';

const id = '01a0c450-6c00-71d8-ba12-4b989cad1d3c';

describe('keys', () => {
  it('are read back with their id and the hash that is stored', () => {
    const made = makeKey(crypto, 'bra', id);
    expect(made.key).toMatch(/^bra_[0-9a-f]{32}_[0-9A-Za-z]{38}$/);
    expect(readKey(crypto, made.key)).toEqual({ kind: 'bra', key_id: id, hash: made.secret_hash });
    expect(made.key.startsWith(`${made.prefix}`)).toBe(true);
    expect(made.secret_hash).not.toContain(made.key);
  });

  it('differ each time, also for one record', () => {
    expect(new Set(Array.from({ length: 50 }, () => makeKey(crypto, 'brk', id).key)).size).toBe(50);
  });

  it('are refused with one character changed, cut off or added anywhere', () => {
    const { key } = makeKey(crypto, 'brk', id);
    for (let at = 4; at < key.length; at++) {
      const other = key[at] === '7' ? '8' : '7';
      expect(readKey(crypto, key.slice(0, at) + other + key.slice(at + 1)), `character ${at}`).toBeNull();
    }
    for (const wrong of ['', 'brk_', key.slice(0, -1), `${key}0`, ` ${key}`, key.replace('brk', 'bra'), key.toUpperCase()]) {
      expect(readKey(crypto, wrong), wrong).toBeNull();
    }
  });

  it('prove only the record that they were made for', () => {
    const tokens = keyTokens(crypto);
    const [a, b] = [makeKey(crypto, 'brk', id), makeKey(crypto, 'brk', id)];
    const record = { secret_hash: a.secret_hash } as Parameters<typeof tokens.proves>[1];
    expect(tokens.proves(a.key, record)).toBe(true);
    expect(tokens.proves(b.key, record)).toBe(false);
  });

  it('come in an Authorization header of the kind Bearer', () => {
    expect(bearerToken('Bearer abc')).toBe('abc');
    expect(bearerToken('bearer  abc ')).toBe('abc');
    for (const header of ['', 'abc', 'Basic abc', 'Bearer', 'Bearer a b']) expect(bearerToken(header), header).toBeNull();
  });
});
