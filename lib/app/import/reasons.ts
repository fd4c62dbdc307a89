import type * as z from 'zod';
import { type Mistake, type Path, pathText, type StrictYaml } from '../yaml/strict-yaml.ts';

type Issue = z.core.$ZodIssue;

/** Turns what the schema says into what a person with the file open can act on: place, path, reason (SPEC §13). */
export function mistakesOf(issues: readonly Issue[], yaml: StrictYaml, under: Path = []): Mistake[] {
  return issues.flatMap((issue) => {
    const path: Path = [...under, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => at(yaml, [...path, key], 'key', issue.message));
    if (issue.code === 'invalid_key') return [at(yaml, path, 'key', issue.issues[0]?.message ?? issue.message)];
    if (issue.code === 'invalid_union') return [at(yaml, path, 'value', unionReason(issue))];
    return [at(yaml, path, 'value', reason(issue, yaml.sourceAt(path)))];
  });
}

export function at(yaml: StrictYaml, path: Path, what: 'value' | 'key', text: string): Mistake {
  return { ...yaml.locate(path, what), path: pathText(path), reason: text };
}

const WORDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  tuple: 'a list',
};

function reason(issue: Issue, source: string | null): string {
  if (issue.code === 'invalid_type') {
    const wanted = WORDS[issue.expected] ?? issue.expected;
    if (issue.input === undefined && source === null) return `is missing; it must be ${wanted}`;
    if (issue.expected === 'string' && source !== null && source !== '') return `must be a text; write "${source}" in quotes`;
    return `must be ${wanted}`;
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    return values.length === 1 || !issue.message.startsWith('Invalid') ? issue.message : `must be one of ${values.join(', ')}`;
  }
  if (issue.code === 'too_small') return sizeReason(issue, issue.origin, `at least ${issue.minimum}`);
  if (issue.code === 'too_big') return sizeReason(issue, issue.origin, `at most ${issue.maximum}`);
  return issue.message;
}

function sizeReason(issue: Issue, origin: string, size: string): string {
  if (!issue.message.startsWith('Too ')) return issue.message;
  if (origin === 'string') return `must have ${size} characters`;
  return origin === 'array' ? `must have ${size} entries` : `must be ${size}`;
}

function unionReason(issue: Issue & { code: 'invalid_union' }): string {
  const [first] = issue.message === 'Invalid input' ? issue.errors.flat() : [];
  return first === undefined ? issue.message : reason(first, null);
}
