/** What expressions work on: JSON, and names that nobody has defined. Nothing here has methods, prototypes or code. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };
export type MapValue = { readonly [key: string]: Value };

/** Jinja2's undefined: only `default`, `is defined` and `is undefined` may meet it. */
export class Missing {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

/** What is wrong with a template, or why it cannot be rendered for this context. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly line: number | null;
  constructor(line: number | null, reason: string) {
    super(line === null ? reason : `line ${line}: ${reason}`);
    this.line = line;
  }
}

export const MAX_TEXT = 256 * 1024;
/** Each step of a render and each 32 characters of text cost one, a turn of a loop ten; all of it takes well under a second. */
export const MAX_STEPS = 500_000;
export const TURN = 10;
const MAX_DEPTH = 200;

/** What a render may still spend. */
export class Budget {
  #left = MAX_STEPS;

  spend(steps: number, line: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TemplateError(line, 'the template does too much work; shorten its loops and lists');
  }

  /** A text that was made: it costs, and it may not be longer than a whole rendering. */
  made(text: string, line: number): string {
    this.fits(text.length, line);
    return text;
  }

  /** Of a text that is made in pieces, only the piece costs. */
  fits(length: number, line: number, piece = length): void {
    if (length > MAX_TEXT) throw new TemplateError(line, 'a text gets longer than 256 KiB');
    this.spend(piece >> 5, line);
  }
}

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isMap = (value: Value): value is MapValue => typeof value === 'object' && value !== null && !Array.isArray(value);

/** In the words of the person who wrote the template. */
export function kindOf(value: Value): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'string') return 'a text';
  return isList(value) ? 'a list' : 'a map';
}

/** Python's truth: empty texts, lists and maps are false. */
export function truth(value: Value): boolean {
  if (typeof value === 'object' && value !== null) return (isList(value) ? value : Object.keys(value)).length > 0;
  return Boolean(value);
}

/** Texts are sequences of characters, not of UTF-16 halves. */
export const characters = (text: string): string[] => [...text];

/** Python's `==`: true is 1, and texts never equal numbers. */
export function equal(a: Value, b: Value, budget: Budget, line: number, depth = 0): boolean {
  budget.spend(1, line);
  if (depth > MAX_DEPTH) throw new TemplateError(line, 'values are nested too deeply to be compared');
  if (typeof a === 'string' && typeof b === 'string') {
    budget.spend(Math.min(a.length, b.length) >> 5, line);
    return a === b;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return plain(a) === plain(b);
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i] ?? null, budget, line, depth + 1));
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  const same = (key: string): boolean => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null, budget, line, depth + 1);
  return keys.length === Object.keys(b).length && keys.every(same);
}

const plain = (value: Value): Value => (typeof value === 'boolean' ? Number(value) : value);

/** Order of two numbers or two texts (by code point, as Python does); anything else has none. */
export function order(a: Value, b: Value, budget: Budget, line: number): number {
  budget.spend(1, line);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') {
    budget.spend(Math.min(a.length, b.length) >> 5, line);
    return textOrder(a, b);
  }
  throw new TemplateError(line, `${kindOf(a)} and ${kindOf(b)} have no order`);
}

function textOrder(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === end) return a.length - b.length;
  const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
  // Halves of a pair stand for code points above all others.
  const lift = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
  return lift(x) - lift(y);
}

/** What printing gives, exactly as Python writes it; what it would write differently is refused. */
export function printed(value: Value, line: number): string {
  if (typeof value === 'string') return value;
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return printedNumber(value, line);
  if (value === null) throw new TemplateError(line, 'none is printed here; give it a default or test it with "is none"');
  throw new TemplateError(line, `${kindOf(value)} is printed here; use the filter tojson or to_yaml`);
}

/** Python goes over to exponents earlier than JavaScript. */
function printedNumber(value: number, line: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) ? Number.isSafeInteger(value) : size >= 1e-4 && size < 1e16) return String(value);
  throw new TemplateError(line, `the number ${value} is too large or too small to be printed; write it as a text`);
}
