import type * as z from 'zod';
import { AppError, type Problem, sentence } from '../app/errors.ts';
import { valueProblems } from '../contracts/object-keys.ts';

type Issue = z.core.$ZodIssue;

/** Reads a value with its schema; every mistake is named with its field. */
export function validated<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  throw new AppError(
    'invalid',
    result.error.issues.flatMap((issue) => problemsOf(issue)),
  );
}

const MOST_NAMED = 20;

/** Keys and depths that nothing here keeps are refused before any schema looks: a schema's library would drop some of them silently. */
export function refuseUnkept(value: unknown): void {
  const problems = valueProblems(value).slice(0, MOST_NAMED);
  if (problems.length === 0) return;
  throw new AppError(
    'invalid',
    problems.map(({ path, reason }) => ({ code: 'invalid', detail: sentence(reason), attr: attrOf(path) })),
  );
}

/** Code, sentence and dotted field of one mistake; an object with three unknown fields has three. */
export function problemsOf(issue: Issue): Problem[] {
  const attr = attrOf(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      code: 'invalid',
      detail: `"${key}" is not a field here; check its spelling.`,
      attr: attrOf([...issue.path, key]),
    }));
  }
  if (issue.code === 'invalid_union') return unionProblems(issue, attr);
  return [{ ...wordsOf(issue), attr }];
}

const attrOf = (path: readonly PropertyKey[]): string | null => (path.length === 0 ? null : path.map(String).join('.'));

/** Of several possible forms, the one whose mistakes lie deepest is the one that was meant. */
function unionProblems(issue: Extract<Issue, { code: 'invalid_union' }>, attr: string | null): Problem[] {
  if (issue.input === null) return [{ code: 'null', detail: 'must not be null.', attr }];
  if (issue.message !== 'Invalid input') return [{ code: 'invalid', detail: sentence(issue.message), attr }];
  return [{ code: 'invalid', detail: 'has a value of the wrong kind.', attr }];
}

type Words = Pick<Problem, 'code' | 'detail'>;

function wordsOf(issue: Issue): Words {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords(issue);
    case 'invalid_value':
      return choiceWords(issue);
    case 'too_big':
      return {
        code: limitCode('max', issue.origin),
        detail: custom(issue) ?? `must be at most ${unit(issue.origin, Number(issue.maximum))}.`,
      };
    case 'too_small':
      return smallWords(issue);
    case 'invalid_format':
      return { code: 'invalid', detail: custom(issue) ?? `is not a ${issue.format}.` };
    case 'custom': {
      const code: unknown = issue.params?.['code'];
      return { code: typeof code === 'string' ? code : 'invalid', detail: sentence(issue.message) };
    }
    default:
      return { code: 'invalid', detail: sentence(issue.message) };
  }
}

const KINDS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function typeWords(issue: Extract<Issue, { code: 'invalid_type' }>): Words {
  const kind = KINDS[issue.expected] ?? issue.expected;
  if (issue.input === undefined) return { code: 'required', detail: `is required: ${kind}.` };
  if (issue.input === null) return { code: 'null', detail: `must not be null; it is ${kind}.` };
  return { code: issue.expected === 'array' ? 'not_a_list' : 'invalid', detail: `must be ${kind}.` };
}

function choiceWords(issue: Extract<Issue, { code: 'invalid_value' }>): Words {
  const detail = custom(issue) ?? `must be one of: ${issue.values.map(String).join(', ')}.`;
  if (issue.input === undefined) return { code: 'required', detail: `is required; it ${detail}` };
  return { code: issue.input === null ? 'null' : 'invalid_choice', detail };
}

function smallWords(issue: Extract<Issue, { code: 'too_small' }>): Words {
  if (issue.origin === 'string' && issue.input === '') return { code: 'blank', detail: 'must not be empty.' };
  return {
    code: limitCode('min', issue.origin),
    detail: custom(issue) ?? `must be at least ${unit(issue.origin, Number(issue.minimum))}.`,
  };
}

const limitCode = (end: 'min' | 'max', origin: string): string =>
  `${end}_${origin === 'string' || origin === 'array' ? 'length' : 'value'}`;

function unit(origin: string, n: number): string {
  if (origin === 'string') return `${n} characters long`;
  return origin === 'array' ? `${n} entries long` : String(n);
}

/** Messages that the schemas give themselves are written for people; the library's own are not. */
function custom(issue: Issue): string | null {
  return /^(Invalid|Too (big|small)|Unrecognized)/.test(issue.message) ? null : sentence(issue.message);
}
