import { hash as digest } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from '../../domain/shared/fleet.ts';
import type { Fields } from './ports.ts';

/** The last imported form of a record: field → short hash of the value. */
export type Hashes = Readonly<Record<string, string>>;

export interface Difference {
  /** Fields whose value in the file is another than at the last import. */
  readonly set: Fields;
  /** Fields that the file had and has no more. */
  readonly cleared: readonly string[];
}

/** 48 bits: two values of one field that meet by chance are not to be expected. */
const hash = (value: Json): string => digest('sha256', canonicalize(value) ?? '', 'base64url').slice(0, 8);

export const hashesOf = (fields: Fields): Hashes =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, hash(value)]));

/** SPEC §13: fields are written only where the file differs from the last import, so that what people changed since then stays. */
export function difference(fields: Fields, now: Hashes, last: Hashes): Difference {
  const set = Object.fromEntries(Object.entries(fields).filter(([field]) => !Object.hasOwn(last, field) || now[field] !== last[field]));
  return { set, cleared: Object.keys(last).filter((field) => !Object.hasOwn(fields, field)) };
}

export const isSame = (a: object, b: object): boolean => canonicalize(a) === canonicalize(b);
