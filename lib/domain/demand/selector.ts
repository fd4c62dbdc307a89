import type { Labels } from '../shared/fleet.ts';

/** One comma-separated part of a label selector in Kubernetes syntax; all parts must match. */
export type Requirement =
  | { readonly key: string; readonly op: 'exists' | 'missing' }
  | { readonly key: string; readonly op: 'in' | 'notin'; readonly values: readonly string[] }
  | { readonly key: string; readonly op: 'gt' | 'lt'; readonly value: number };
export type Selector = readonly Requirement[];

export type ParsedSelector =
  | { readonly ok: true; readonly selector: Selector }
  /** `position` counts characters from 1. */
  | { readonly ok: false; readonly position: number; readonly reason: string };

interface Token {
  readonly kind: 'word' | 'sign' | 'end';
  readonly text: string;
  readonly position: number;
}

class SelectorError extends Error {
  readonly position: number;
  constructor(token: Token, reason: string) {
    super(reason);
    this.position = token.position;
  }
}

/** `env in (prod,staging), !legacy, tier!=db`; an empty selector is refused, because "nothing given" must not mean "all". */
export function parseSelector(text: string): ParsedSelector {
  const input = new Tokens(text);
  const selector: Requirement[] = [];
  try {
    do selector.push(requirement(input));
    while (input.accept(','));
    input.expectEnd();
    return { ok: true, selector };
  } catch (error) {
    if (error instanceof SelectorError) return { ok: false, position: error.position, reason: error.message };
    throw error;
  }
}

export function matches(selector: Selector, labels: Labels): boolean {
  return selector.every((r) => meets(r, Object.hasOwn(labels, r.key) ? labels[r.key] : undefined));
}

/** As in Kubernetes: `!=` and `notin` hold also where the label is missing, `>` and `<` compare whole numbers. */
function meets(r: Requirement, value: string | undefined): boolean {
  switch (r.op) {
    case 'exists':
      return value !== undefined;
    case 'missing':
      return value === undefined;
    case 'in':
      return value !== undefined && r.values.includes(value);
    case 'notin':
      return value === undefined || !r.values.includes(value);
    case 'gt':
      return value !== undefined && WHOLE.test(value) && Number(value) > r.value;
    case 'lt':
      return value !== undefined && WHOLE.test(value) && Number(value) < r.value;
  }
}

const WHOLE = /^-?\d{1,15}$/;
const COMPARISONS: readonly string[] = ['=', '==', '!=', '>', '<'];

function requirement(input: Tokens): Requirement {
  if (input.accept('!')) return { key: input.word('a label name').text, op: 'missing' };
  const key = input.word('a label name').text;
  const next = input.peek();
  if (next.kind === 'word' && (next.text === 'in' || next.text === 'notin')) {
    input.next();
    return { key, op: next.text, values: valueList(input) };
  }
  if (!COMPARISONS.includes(next.text) || next.kind !== 'sign') return { key, op: 'exists' };
  input.next();
  return comparison(input, key, next.text);
}

function comparison(input: Tokens, key: string, sign: string): Requirement {
  if (sign === '>' || sign === '<') {
    const value = input.word('a whole number');
    if (!WHOLE.test(value.text)) throw new SelectorError(value, `"${value.text}" is not a whole number`);
    return { key, op: sign === '>' ? 'gt' : 'lt', value: Number(value.text) };
  }
  const value = input.peek().kind === 'word' ? input.next().text : '';
  return { key, op: sign === '!=' ? 'notin' : 'in', values: [value] };
}

function valueList(input: Tokens): string[] {
  input.expect('(', 'a list of values in parentheses');
  const values: string[] = [];
  do values.push(input.peek().kind === 'word' ? input.next().text : '');
  while (input.accept(','));
  const end = input.expect(')', '"," or ")"');
  if (values.length === 1 && values[0] === '') throw new SelectorError(end, 'the list of values is empty');
  return values;
}

/** Reads the text piece by piece. */
class Tokens {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(text: string) {
    const found = [...text.matchAll(/[(),]|!=|==|[=!<>]|[^\s(),=!<>]+/g)];
    const end: Token = { kind: 'end', text: '', position: text.length + 1 };
    this.tokens = [...found.map(toToken), end];
  }

  peek(): Token {
    return this.tokens[this.at] ?? { kind: 'end', text: '', position: 1 };
  }

  next(): Token {
    const token = this.peek();
    this.at += 1;
    return token;
  }

  accept(sign: string): boolean {
    const found = this.peek().kind === 'sign' && this.peek().text === sign;
    if (found) this.at += 1;
    return found;
  }

  expect(sign: string, wanted: string): Token {
    const token = this.peek();
    if (!this.accept(sign)) throw new SelectorError(token, `expected ${wanted}, found ${shown(token)}`);
    return token;
  }

  word(wanted: string): Token {
    const token = this.next();
    if (token.kind !== 'word') throw new SelectorError(token, `expected ${wanted}, found ${shown(token)}`);
    return token;
  }

  expectEnd(): void {
    const token = this.peek();
    if (token.kind !== 'end') throw new SelectorError(token, `expected "," or the end, found ${shown(token)}`);
  }
}

function toToken(match: RegExpExecArray): Token {
  const text = match[0];
  return { kind: /^[(),=!<>]/.test(text) ? 'sign' : 'word', text, position: match.index + 1 };
}

function shown(token: Token): string {
  return token.kind === 'end' ? 'the end' : `"${token.text}"`;
}
