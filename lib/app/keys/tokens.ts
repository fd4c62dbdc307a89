import type { AccessKey } from '../ports.ts';
import { type KeyCrypto, readKey } from './format.ts';

/** What a key's text says before the table is asked, and whether a stored key was made from it. */
export function keyTokens(crypto: KeyCrypto) {
  return {
    read(token: string): { readonly key_id: string; readonly hash: string } | null {
      return readKey(crypto, token);
    },
    proves(token: string, key: AccessKey): boolean {
      return crypto.equal(crypto.sha256(token), key.secret_hash);
    },
  };
}
