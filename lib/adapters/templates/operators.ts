import { type Budget, equal, isList, isMap, kindOf, order, printed, TemplateError, type Value } from './values.ts';

type Operator = (left: Value, right: Value, budget: Budget, line: number) => Value;

function whole(value: Value, line: number): number {
  if (Number.isSafeInteger(value)) return Number(value);
  throw new TemplateError(line, `only whole numbers can be reckoned with, not ${typeof value === 'number' ? value : kindOf(value)}`);
}

/** Python's whole numbers have no end; where ours end is an error, never a rounded number. */
const reckoning =
  (work: (left: number, right: number) => number): Operator =>
  (left, right, _budget, line) => {
    const result = work(whole(left, line), whole(right, line));
    if (Number.isSafeInteger(result)) return result + 0;
    throw new TemplateError(line, 'the result is beyond ±2^53 or a division by 0');
  };

/** It has the sign of the divisor. */
function remainder(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

const add: Operator = (left, right, budget, line) => {
  if (typeof left === 'string' && typeof right === 'string') return budget.made(left + right, line);
  if (!isList(left) || !isList(right)) return reckoning((a, b) => a + b)(left, right, budget, line);
  budget.spend(left.length + right.length, line);
  return [...left, ...right];
};

const within: Operator = (left, right, budget, line) => {
  if (isList(right)) return right.some((item) => equal(left, item, budget, line));
  if (isMap(right) && !isList(left) && !isMap(left)) return typeof left === 'string' && Object.hasOwn(right, left);
  if (typeof left !== 'string' || typeof right !== 'string') throw new TemplateError(line, `${kindOf(left)} cannot be in ${kindOf(right)}`);
  budget.spend((left.length * right.length) >> 5, line);
  return right.includes(left);
};

export const OPERATORS: Readonly<Record<'Add' | 'Sub' | 'Mul' | 'FloorDiv' | 'Mod' | 'Concat' | 'In', Operator>> = {
  Add: add,
  Sub: reckoning((a, b) => a - b),
  Mul: reckoning((a, b) => a * b),
  FloorDiv: reckoning((a, b) => (a - remainder(a, b)) / b),
  Mod: reckoning(remainder),
  Concat: (left, right, budget, line) => budget.made(printed(left, line) + printed(right, line), line),
  In: within,
};

type Comparison = (left: Value, right: Value, budget: Budget, line: number) => boolean;

export const COMPARISONS: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['==', equal],
  ['!=', (a, b, budget, line) => !equal(a, b, budget, line)],
  ['<', (a, b, budget, line) => order(a, b, budget, line) < 0],
  ['>', (a, b, budget, line) => order(a, b, budget, line) > 0],
  ['<=', (a, b, budget, line) => order(a, b, budget, line) <= 0],
  ['>=', (a, b, budget, line) => order(a, b, budget, line) >= 0],
]);

export const negated = (value: Value, line: number): Value => 0 - whole(value, line);
export const positive = (value: Value, line: number): Value => whole(value, line);
