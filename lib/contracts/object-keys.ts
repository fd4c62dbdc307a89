/** What holds for every object whose keys a client chooses (labels, annotations, block configs, SystemConfig), in a request and in a fleet file. */

/** JavaScript gives them a meaning of their own: one reader drops them, the next sets a prototype. Nothing here shall depend on which. */
const REFUSED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** A row of the table nests at most 32 levels (DynamoDB); the object around a value takes some of them. */
export const MAX_NESTING = 28;

export const isRefusedKey = (key: string): boolean => REFUSED.has(key);

export interface ValueProblem {
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

/** Refused keys and too deep nesting in a JSON value, in the order of the value; the walk goes no deeper than what is allowed. */
export function valueProblems(value: unknown, path: readonly (string | number)[] = [], depth = 0): ValueProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth > MAX_NESTING) return [{ path, reason: `is nested too deeply; at most ${MAX_NESTING} levels are kept` }];
  if (Array.isArray(value)) return value.flatMap((part, at) => valueProblems(part, [...path, at], depth + 1));
  return Object.entries(value).flatMap(([key, part]) =>
    isRefusedKey(key)
      ? [{ path: [...path, key], reason: `the key "${key}" is not allowed; choose another` }]
      : valueProblems(part, [...path, key], depth + 1),
  );
}
