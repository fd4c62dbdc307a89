import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The cryptography that keys need, from the machine. */
export const systemKeyCrypto = {
  randomBytes: (length: number): Uint8Array => randomBytes(length),
  sha256: (text: string): string => hash('sha256', text, 'base64url'),
  equal(a: string, b: string): boolean {
    const [left, right] = [Buffer.from(a), Buffer.from(b)];
    return left.length === right.length && timingSafeEqual(left, right);
  },
};
