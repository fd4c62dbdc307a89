/**
 * Keys are `<kind>_<key id>_<secret><checksum>`: `brk_` for people, `bra_` for agents. The key id is the id of its record without dashes,
 * the secret has 190 random bits, the checksum finds mistyped and cut-off keys before the table is asked (it stops typos, not attackers).
 */

/** What keys need from the machine's cryptography. */
export interface KeyCrypto {
  randomBytes(length: number): Uint8Array;
  /** In base64url. */
  sha256(text: string): string;
  /** Takes the same time whatever differs. */
  equal(a: string, b: string): boolean;
}

export type KeyKind = 'brk' | 'bra';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const FORM = /^(brk|bra)_([0-9a-f]{32})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** By its form alone; free of cost, and enough to refuse what was cut off before anything else is looked at. */
export const looksLikeKey = (kind: KeyKind, text: string): boolean => text.startsWith(kind) && FORM.test(text);

export interface MadeKey {
  readonly key: string;
  readonly prefix: string;
  readonly secret_hash: string;
}

export function makeKey(crypto: KeyCrypto, kind: KeyKind, id: string): MadeKey {
  const body = `${kind}_${id.replaceAll('-', '')}_${randomText(crypto, SECRET_LENGTH)}`;
  const key = body + checksum(crypto, body);
  return { key, prefix: prefixOf(kind, id), secret_hash: crypto.sha256(key) };
}

/** What may be shown: enough to tell keys apart, nothing that opens anything. */
export const prefixOf = (kind: KeyKind, id: string): string => `${kind}_${id.replaceAll('-', '').slice(0, 12)}`;

export interface ReadKey {
  readonly kind: KeyKind;
  readonly key_id: string;
  /** SHA-256 of the whole key, as it is stored. */
  readonly hash: string;
}

/** null = not one of our keys: the form or the checksum is wrong. */
export function readKey(crypto: KeyCrypto, key: string): ReadKey | null {
  const match = FORM.exec(key);
  if (match === null) return null;
  const [, kind, id = '', , sum = ''] = match;
  if (checksum(crypto, key.slice(0, -CHECKSUM_LENGTH)) !== sum) return null;
  return { kind: kind === 'bra' ? 'bra' : 'brk', key_id: dashed(id), hash: crypto.sha256(key) };
}

const dashed = (hex: string): string => `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

const checksum = (crypto: KeyCrypto, body: string): string =>
  crypto
    .sha256(body)
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .slice(0, CHECKSUM_LENGTH);

/** Each character equally likely: bytes beyond the last whole alphabet are thrown away. */
function randomText(crypto: KeyCrypto, length: number): string {
  const limit = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.randomBytes(length)) if (byte < limit && text.length < length) text += ALPHABET[byte % ALPHABET.length];
  }
  return text;
}
