import { type Call, type Callable, FILTERS, pairsOf, TESTS } from './filters.ts';
import { checkComparison, checkKey, checkName, checkOperands } from './grammar.ts';
import { COMPARISONS, negated, OPERATORS, positive } from './operators.ts';
import {
  type BinaryNode,
  type CallNode,
  type CompareNode,
  type FilterNode,
  type IfNode,
  type LookupNode,
  lineOf,
  type Node,
  type PairNode,
} from './parse.ts';
import { fieldOf, type Render } from './scope.ts';
import { characters, isList, isMap, kindOf, type MapValue, Missing, TemplateError, truth, type Value } from './values.ts';

export type Expression = (render: Render) => Value | Missing;
type Defined = (render: Render) => Value;

const MAX_DEPTH = 200;
const MAX_RANGE = 1_000;
const CONSTANTS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['True', true],
  ['False', false],
  ['None', null],
]);

/** Builds expressions as functions of a rendering. What is not listed here does not exist: no node of the tree is ever turned into program text. */
export class Expressions {
  /** Line of the first use of `now`: what is rendered must not change by looking (SPEC §8). */
  usesNow: number | null = null;
  #depth = 0;

  /** A value that is there; an undefined name is an error with its name and line. */
  defined(node: Node): Defined {
    const expression = this.build(node);
    const line = lineOf(node);
    return (render) => {
      const value = expression(render);
      if (value instanceof Missing) throw new TemplateError(line, `${value.what} is not defined`);
      return value;
    };
  }

  condition(node: Node): (render: Render) => boolean {
    const value = this.defined(node);
    return (render) => truth(value(render));
  }

  build(node: Node): Expression {
    const line = lineOf(node);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new TemplateError(line, 'expressions are nested too deeply');
    const expression = this.#expression(node);
    this.#depth -= 1;
    return (render) => {
      render.budget.spend(1, line);
      return expression(render);
    };
  }

  #expression(node: Node): Expression {
    switch (node.typename) {
      case 'Literal':
        return this.#literal(node.value, lineOf(node));
      case 'Symbol':
        return this.#symbol(node.value, lineOf(node));
      case 'LookupVal':
        return this.#lookup(node);
      case 'Group':
        return this.#group(node.children, lineOf(node));
      case 'Array':
        return this.#list(node.children);
      case 'Dict':
        return this.#map(node.children, lineOf(node));
      case 'InlineIf':
        return this.#inlineIf(node);
      case 'Compare':
        return this.#comparison(node);
      case 'Filter':
        return this.#filter(node);
      case 'FunCall':
        return this.#call(node);
      case 'Not':
        return this.#not(node.target);
      case 'Neg':
        return this.#signed(node.target, negated);
      case 'Pos':
        return this.#signed(node.target, positive);
      default:
        return this.#binary(node);
    }
  }

  #not(target: Node): Expression {
    const condition = this.condition(target);
    return (render) => !condition(render);
  }

  #signed(target: Node, sign: (value: Value, line: number) => Value): Expression {
    const value = this.defined(target);
    const line = lineOf(target);
    return (render) => sign(value(render), line);
  }

  #literal(value: unknown, line: number): Expression {
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return () => value;
    if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return () => value;
    throw new TemplateError(line, 'this value is not supported; write a large number as a text');
  }

  #symbol(name: string, line: number): Expression {
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return () => constant;
    checkName(name, line);
    if (name === 'now') this.usesNow ??= line;
    return (render) => render.lookup(name);
  }

  #group(children: readonly Node[], line: number): Expression {
    const [only, ...more] = children;
    if (only === undefined || more.length > 0) throw new TemplateError(line, 'a tuple is not supported; use a list: [a, b]');
    return this.build(only);
  }

  #list(children: readonly Node[]): Expression {
    const items = children.map((child) => this.defined(child));
    return (render) => items.map((item) => item(render));
  }

  #map(pairs: readonly PairNode[], line: number): Expression {
    const entries = pairs.map(({ key, value }) => {
      if (key.typename !== 'Literal' || typeof key.value !== 'string')
        throw new TemplateError(line, 'a key of a map must be a text in quotes');
      return [checkKey(key.value, line), this.defined(value)] as const;
    });
    return (render) => Object.fromEntries(entries.map(([key, value]) => [key, value(render)]));
  }

  #inlineIf({ cond, body, else_, ...node }: IfNode): Expression {
    const condition = this.condition(cond);
    const [then, otherwise] = [this.build(body), else_ === null ? null : this.build(else_)];
    const missing = new Missing(`the value of an "if" without "else" (line ${lineOf(node)})`);
    return (render) => (condition(render) ? then(render) : (otherwise?.(render) ?? (otherwise === null ? missing : null)));
  }

  #lookup({ target, val, ...node }: LookupNode): Expression {
    const [holder, key] = [this.defined(target), this.defined(val)];
    const line = lineOf(node);
    if (val.typename === 'Literal' && typeof val.value === 'string') checkKey(val.value, line);
    const path = pathOf(target);
    return (render) => {
      const name = key(render);
      const found = itemOf(holder(render), name, line);
      return found === undefined ? new Missing(`${path}${typeof name === 'string' ? `.${name.slice(0, 100)}` : '[…]'}`) : found;
    };
  }

  #comparison(node: CompareNode): Expression {
    checkComparison(node);
    const first = this.defined(node.expr);
    const line = lineOf(node);
    const rest = node.ops.map(({ expr, type }) => {
      const compare = COMPARISONS.get(type);
      if (compare === undefined) throw new TemplateError(line, `the comparison ${type} is not supported`);
      return { compare, operand: this.defined(expr) };
    });
    return (render) => {
      let left = first(render);
      return rest.every(({ compare, operand }) => {
        const right = operand(render);
        const holds = compare(left, right, render.budget, line);
        left = right;
        return holds;
      });
    };
  }

  #binary(node: Node): Expression {
    switch (node.typename) {
      case 'Or':
      case 'And':
        return this.#logic(node);
      case 'Is':
        return this.#test(node);
      case 'Add':
      case 'Sub':
      case 'Mul':
      case 'FloorDiv':
      case 'Mod':
      case 'Concat':
      case 'In': {
        checkOperands(node);
        const operator = OPERATORS[node.typename];
        const [left, right, line] = [this.defined(node.left), this.defined(node.right), lineOf(node)];
        return (render) => operator(left(render), right(render), render.budget, line);
      }
      default:
        throw new TemplateError(lineOf(node), `"${node.typename}" is not supported in expressions`);
    }
  }

  /** As in Python the answer is one of the two values. */
  #logic(node: BinaryNode): Expression {
    const [left, right] = [this.defined(node.left), this.defined(node.right)];
    const goOn = node.typename === 'And';
    return (render) => {
      const value = left(render);
      return truth(value) === goOn ? right(render) : value;
    };
  }

  #test(node: BinaryNode): Expression {
    checkOperands(node);
    const line = lineOf(node);
    const { name, args } = testOf(node.right, line);
    if (name === 'defined' || name === 'undefined') {
      if (args.length > 0) throw new TemplateError(line, `"is ${name}" takes nothing`);
      const value = this.build(node.left);
      return (render) => value(render) instanceof Missing === (name === 'undefined');
    }
    const test = TESTS.get(name);
    if (test === undefined) throw new TemplateError(line, `the test "is ${name.slice(0, 100)}" is not supported`);
    const [value, given] = [this.defined(node.left), this.#arguments(`is ${name}`, test, args, line)];
    return (render) => test.holds(value(render), given(render));
  }

  #filter(node: FilterNode): Expression {
    const line = lineOf(node);
    const name = node.name.typename === 'Symbol' ? node.name.value : '';
    const filter = FILTERS.get(name);
    const [input, ...args] = node.args.children;
    if (filter === undefined || input === undefined) throw new TemplateError(line, `the filter ${name.slice(0, 100)} is not supported`);
    const given = this.#arguments(name, filter, args, line);
    if (name !== 'default' && name !== 'd') {
      const value = this.defined(input);
      return (render) => filter.apply(value(render), given(render));
    }
    const value = this.build(input);
    return (render) => {
      const found = value(render);
      const call = given(render);
      return found instanceof Missing
        ? (call.args.get('default_value') ?? (call.args.has('default_value') ? null : ''))
        : filter.apply(found, call);
    };
  }

  /** Functions are called by name and nothing else is: `range`, and what a map can say about itself. */
  #call({ name: callee, args: { children }, ...node }: CallNode): Expression {
    const line = lineOf(node);
    if (callee.typename === 'LookupVal' && callee.val.typename === 'Literal')
      return this.#method(callee.target, String(callee.val.value), children, line);
    const name = callee.typename === 'Symbol' ? callee.value : 'this';
    if (name === 'credential_get_or_create' || name === 'backup_schedule_cron')
      throw new TemplateError(line, `${name}() is not available in this version`);
    if (name !== 'range') throw new TemplateError(line, `${name.slice(0, 100)} is not a function that templates can call`);
    if (children.length === 0 || children.some(({ typename }) => typename === 'KeywordArgs'))
      throw new TemplateError(line, 'range takes one to three numbers');
    const given = this.#arguments('range', { parameters: ['a', 'b', 'c'], required: 1 }, children, line);
    return (render) => range([...given(render).args.values()], line);
  }

  #method(target: Node, name: string, args: readonly Node[], line: number): Expression {
    const parameters = name === 'get' ? ['key', 'default'] : [];
    if (!['items', 'keys', 'values', 'get'].includes(name))
      throw new TemplateError(line, `.${name.slice(0, 100)}() cannot be called; there may be a filter for it`);
    const given = this.#arguments(`.${name}()`, { parameters, required: Math.min(1, parameters.length) }, args, line);
    const holder = this.defined(target);
    return (render) => {
      const map = holder(render);
      if (!isMap(map)) throw new TemplateError(line, `.${name}() needs a map, not ${kindOf(map)}`);
      render.budget.spend(Object.keys(map).length, line);
      return methodOf(map, name, given(render));
    };
  }

  /** By place or by name, each at most once. */
  #arguments(name: string, { parameters, required }: Callable, nodes: readonly Node[], line: number): (render: Render) => Call {
    const given = new Map<string, Defined>();
    const give = (parameter: string | undefined, value: Node): void => {
      if (parameter === undefined || given.has(parameter) || !parameters.includes(parameter))
        throw new TemplateError(line, `${name} does not take what it is given here${parameters.length === 0 ? '; it takes nothing' : ''}`);
      given.set(parameter, this.defined(value));
    };
    for (const [index, node] of nodes.entries()) {
      if (node.typename !== 'KeywordArgs') give(parameters[index], node);
      else for (const { key, value } of node.children) give(key.typename === 'Symbol' ? key.value : undefined, value);
    }
    if (parameters.slice(0, required).some((parameter) => !given.has(parameter)))
      throw new TemplateError(line, `${name} needs ${parameters.slice(0, required).join(' and ')}`);
    return (render) => ({ args: new Map([...given].map(([parameter, value]) => [parameter, value(render)])), budget: render.budget, line });
  }
}

/** How the person wrote it, for messages. */
function pathOf(node: Node): string {
  if (node.typename === 'Symbol') return node.value;
  if (node.typename === 'LookupVal' && node.val.typename === 'Literal') return `${pathOf(node.target)}.${String(node.val.value)}`;
  return '(…)';
}

function itemOf(holder: Value, key: Value, line: number): Value | undefined {
  if (isMap(holder)) return typeof key === 'string' ? fieldOf(holder, key) : undefined;
  if (holder === null) return undefined;
  if (typeof holder === 'object' || typeof holder === 'string') {
    if (!Number.isSafeInteger(key)) throw new TemplateError(line, `${kindOf(holder)} has no fields, only places: [0]`);
    return (isList(holder) ? holder : characters(holder)).at(Number(key));
  }
  throw new TemplateError(line, `${kindOf(holder)} has no fields`);
}

function testOf(node: Node, line: number): { name: string; args: readonly Node[] } {
  if (node.typename === 'Symbol') return { name: node.value, args: [] };
  if (node.typename === 'FunCall' && node.name.typename === 'Symbol') return { name: node.name.value, args: node.args.children };
  if (node.typename === 'Literal' && (node.value === null || typeof node.value === 'boolean'))
    return { name: String(node.value ?? 'none'), args: [] };
  throw new TemplateError(line, 'this test is not supported; use parentheses if more follows it');
}

function range(numbers: readonly Value[], line: number): Value {
  if (!numbers.every(Number.isSafeInteger)) throw new TemplateError(line, 'range takes whole numbers');
  const [first, second, step = 1] = numbers as number[];
  const [start, stop] = second === undefined ? [0, first ?? 0] : [first ?? 0, second];
  if (step === 0) throw new TemplateError(line, 'range cannot go on by 0');
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > MAX_RANGE) throw new TemplateError(line, `range gives at most ${MAX_RANGE} numbers`);
  return Array.from({ length }, (_, index) => start + index * step);
}

function methodOf(map: MapValue, name: string, { args }: Call): Value {
  if (name === 'items') return pairsOf(map);
  if (name === 'keys') return Object.keys(map);
  if (name === 'values') return Object.values(map);
  const key = args.get('key') ?? null;
  const found = typeof key === 'string' ? fieldOf(map, key) : undefined;
  return found === undefined ? (args.get('default') ?? null) : found;
}
