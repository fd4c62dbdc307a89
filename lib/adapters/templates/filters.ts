import { JINJA, jsonOf, YAML } from './json.ts';
import {
  type Budget,
  characters,
  isList,
  isMap,
  kindOf,
  type MapValue,
  Missing,
  order,
  printed,
  TemplateError,
  truth,
  type Value,
} from './values.ts';

/** One use of a filter, test or function: what it is given, by the names of its parameters. */
export interface Call {
  readonly args: ReadonlyMap<string, Value>;
  readonly budget: Budget;
  readonly line: number;
}

export interface Callable {
  readonly parameters: readonly string[];
  /** So many of the parameters must be given. */
  readonly required: number;
}

export interface Filter extends Callable {
  readonly apply: (input: Value, call: Call) => Value | Missing;
}

const fail = (call: Call, reason: string): never => {
  throw new TemplateError(call.line, reason);
};

const textOf = (input: Value, call: Call): string =>
  typeof input === 'string' ? input : call.budget.made(printed(input, call.line), call.line);

/** A list to go through; of a map its keys. */
export function itemsOf(input: Value, call: Pick<Call, 'budget' | 'line'>): readonly Value[] {
  const items = isMap(input) ? Object.keys(input) : input;
  if (!isList(items)) throw new TemplateError(call.line, `a list is needed here, not ${kindOf(input)}`);
  call.budget.spend(items.length, call.line);
  return items;
}

/** Lists, and texts as the list of their characters. */
function sequence(input: Value, call: Call): readonly Value[] {
  if (typeof input !== 'string') return itemsOf(input, call);
  call.budget.spend(input.length, call.line);
  return characters(input);
}

function sorted(items: readonly Value[], call: Call, sensitive: boolean, key: (item: Value) => Value = (item) => item): Value[] {
  const keyed = items.map((item) => ({ item, by: sensitive ? key(item) : lowered(key(item), call) }));
  return keyed.sort((a, b) => order(a.by, b.by, call.budget, call.line)).map(({ item }) => item);
}

const lowered = (value: Value, call: Call): Value => (typeof value === 'string' ? call.budget.made(value.toLowerCase(), call.line) : value);

/** Python's white space, which is not JavaScript's. */
const BLANK = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const FIRST_BLANKS = new RegExp(`^${BLANK}+`);
const IS_BLANK = new RegExp(BLANK);

function trimmed(text: string): string {
  const start = text.replace(FIRST_BLANKS, '');
  let end = start.length;
  while (end > 0 && IS_BLANK.test(start[end - 1] ?? '')) end -= 1;
  return start.slice(0, end);
}

function replaced(input: Value, call: Call): string {
  const text = textOf(input, call);
  const [old, next] = ['old', 'new'].map((name) => textOf(call.args.get(name) ?? null, call)) as [string, string];
  if (old === '') fail(call, 'replace needs a text to look for');
  call.budget.spend((text.length * old.length) >> 5, call.line);
  const parts = text.split(old);
  call.budget.fits(text.length + (parts.length - 1) * (next.length - old.length), call.line);
  return parts.join(next);
}

function joined(input: Value, call: Call): string {
  const between = textOf(call.args.get('d') ?? '', call);
  let length = 0;
  const parts = sequence(input, call).map((item) => {
    const part = textOf(item, call);
    length += part.length + between.length;
    call.budget.fits(length, call.line, part.length);
    return part;
  });
  return parts.join(between);
}

/** Python's int(): what it reads by rules that few people know is refused. */
function whole(input: Value, call: Call): Value {
  const otherwise = call.args.get('default') ?? 0;
  if (typeof input === 'number') return Math.trunc(input);
  if (typeof input === 'boolean') return Number(input);
  if (typeof input !== 'string') return otherwise;
  const text = trimmed(input);
  if (/^[+-]?\d{1,15}(\.\d*)?$/.test(text)) return Math.trunc(Number(text)) + 0;
  if (/\p{Nd}|inf|nan/iu.test(text)) fail(call, 'the filter int cannot read this text as a number for sure');
  return otherwise;
}

function extreme(input: Value, call: Call, sign: 1 | -1): Value | Missing {
  const items = sequence(input, call);
  if (items.length === 0) return new Missing('an item of an empty list');
  return sorted(items, call, false).at(sign === 1 ? -1 : 0) ?? null;
}

function total(input: Value, call: Call): number {
  const sum = itemsOf(input, call).reduce<number>((so_far, item) => {
    if (!Number.isSafeInteger(item)) return fail(call, 'sum adds whole numbers only');
    return so_far + Number(item);
  }, 0);
  return Number.isSafeInteger(sum) ? sum : fail(call, 'the sum is beyond ±2^53');
}

/** Pairs of key and value, in the map's order. */
export const pairsOf = (map: MapValue): Value[] => Object.entries(map).map(([key, value]) => [key, value]);

function pairs(input: Value, call: Call): Value[] {
  if (!isMap(input)) return fail(call, `a map is needed here, not ${kindOf(input)}`);
  call.budget.spend(Object.keys(input).length * 2, call.line);
  return pairsOf(input);
}

function length(input: Value, call: Call): number {
  return typeof input === 'string' || typeof input === 'object'
    ? sequence(input, call).length
    : fail(call, `${kindOf(input)} has no length`);
}

const filter = (parameters: readonly string[], apply: Filter['apply'], required = parameters.length): Filter => ({
  parameters,
  required,
  apply,
});

const DEFAULT = filter(
  ['default_value', 'boolean'],
  (input, { args }) => (truth(args.get('boolean') ?? false) && !truth(input) ? (args.get('default_value') ?? '') : input),
  0,
);
const LENGTH = filter([], length);

/** The filters that templates can use; each gives what Jinja2's gives, or refuses. `to_yaml` is the one that Jinja2 doesn't have. */
export const FILTERS: ReadonlyMap<string, Filter> = new Map(
  Object.entries({
    abs: filter([], (input, call) => (typeof input === 'number' ? Math.abs(input) : fail(call, `${kindOf(input)} has no absolute value`))),
    capitalize: filter([], (input, call) => {
      const [first = '', ...rest] = characters(textOf(input, call));
      return call.budget.made(first.toUpperCase() + rest.join('').toLowerCase(), call.line);
    }),
    count: LENGTH,
    d: DEFAULT,
    default: DEFAULT,
    dictsort: filter([], (input, call) => sorted(pairs(input, call), call, false, (pair) => (isList(pair) ? (pair[0] ?? null) : null))),
    first: filter([], (input, call) => sequence(input, call)[0] ?? none(input, call)),
    int: filter(['default'], whole, 0),
    items: filter([], pairs),
    join: filter(['d'], joined, 0),
    last: filter([], (input, call) => sequence(input, call).at(-1) ?? none(input, call)),
    length: LENGTH,
    list: filter([], (input, call) => [...sequence(input, call)]),
    lower: filter([], (input, call) => call.budget.made(textOf(input, call).toLowerCase(), call.line)),
    max: filter([], (input, call) => extreme(input, call, 1)),
    min: filter([], (input, call) => extreme(input, call, -1)),
    replace: filter(['old', 'new'], replaced),
    sort: filter(
      ['reverse', 'case_sensitive'],
      (input, call) => {
        const up = sorted(sequence(input, call), call, truth(call.args.get('case_sensitive') ?? false));
        return truth(call.args.get('reverse') ?? false) ? stableReverse(up, call) : up;
      },
      0,
    ),
    string: filter([], textOf),
    sum: filter([], total),
    tojson: filter([], (input, { budget, line }) => jsonOf(input, JINJA, budget, line)),
    to_yaml: filter([], (input, { budget, line }) => jsonOf(input, YAML, budget, line)),
    trim: filter([], (input, call) => call.budget.made(trimmed(textOf(input, call)), call.line)),
    upper: filter([], (input, call) => call.budget.made(textOf(input, call).toUpperCase(), call.line)),
  }),
);

/** An item that is null is not an item that is missing. */
const none = (input: Value, call: Call): null | Missing => (length(input, call) > 0 ? null : new Missing('an item of an empty list'));

/** Python reverses the order, not the list: equal ones keep their places. */
function stableReverse(up: readonly Value[], call: Call): Value[] {
  const low = (value: Value): Value => (truth(call.args.get('case_sensitive') ?? false) ? value : lowered(value, call));
  const keyed = up.map((item) => ({ item, by: low(item) }));
  return keyed.sort((a, b) => order(b.by, a.by, call.budget, call.line)).map(({ item }) => item);
}

export interface Test extends Callable {
  readonly holds: (input: Value, call: Call) => boolean;
}
const test = (holds: Test['holds'], parameters: readonly string[] = []): Test => ({ parameters, required: parameters.length, holds });

function integer(input: Value, call: Call): number {
  return Number.isSafeInteger(input) ? Number(input) : fail(call, `${kindOf(input)} is not a whole number`);
}

/** What may stand behind `is`; `defined` and `undefined` are apart, since they alone may meet an undefined name. */
export const TESTS: ReadonlyMap<string, Test> = new Map(
  Object.entries({
    boolean: test((input) => typeof input === 'boolean'),
    divisibleby: test(
      (input, call) => {
        const by = integer(call.args.get('num') ?? null, call);
        return by === 0 ? fail(call, 'nothing is divisible by 0') : integer(input, call) % by === 0;
      },
      ['num'],
    ),
    even: test((input, call) => integer(input, call) % 2 === 0),
    false: test((input) => input === false),
    mapping: test(isMap),
    none: test((input) => input === null),
    number: test((input) => typeof input === 'number' || typeof input === 'boolean'),
    odd: test((input, call) => integer(input, call) % 2 !== 0),
    string: test((input) => typeof input === 'string'),
    true: test((input) => input === true),
  }),
);
