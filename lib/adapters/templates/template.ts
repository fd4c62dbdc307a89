import { Expressions } from './expressions.ts';
import { itemsOf } from './filters.ts';
import { checkName } from './grammar.ts';
import { type ForNode, lineOf, type Node, parse, type SetNode } from './parse.ts';
import { Render } from './scope.ts';
import { isList, type MapValue, printed, TemplateError, TURN, type Value } from './values.ts';

type Statement = (render: Render) => void;

/** A template that has been read and checked. */
export interface Template {
  /** Line of the first use of `now`, null when there is none. */
  readonly usesNow: number | null;
  render(context: MapValue): string;
}

const MAX_DEPTH = 100;
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

/**
 * Jinja2's meaning for the tree that nunjucks' parser gives. nunjucks' own compiler makes program text of it and lets templates reach every
 * function of the process; here a template is data from end to end, and the list of what it can do is the list of cases below.
 */
export function compile(text: string): Template {
  const builder = new Statements();
  const statement = builder.build(parse(text));
  return {
    usesNow: builder.expressions.usesNow,
    render: (context) => {
      const render = new Render(context);
      statement(render);
      return render.text();
    },
  };
}

class Statements {
  readonly expressions = new Expressions();
  #depth = 0;

  build(node: Node): Statement {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new TemplateError(lineOf(node), 'tags are nested too deeply');
    const statement = this.#statement(node);
    this.#depth -= 1;
    return statement;
  }

  #statement(node: Node): Statement {
    switch (node.typename) {
      case 'Root':
      case 'NodeList':
        return this.#sequence(node.children.map((child) => this.build(child)));
      case 'Output':
        return this.#sequence(node.children.map((child) => this.#output(child)));
      case 'If':
        return this.#if(node.cond, node.body, node.else_);
      case 'For':
        return this.#for(node);
      case 'Set':
        return this.#set(node);
      default:
        throw new TemplateError(lineOf(node), `"${node.typename}" is not supported in templates`);
    }
  }

  #sequence(statements: readonly Statement[]): Statement {
    const [only, ...more] = statements;
    if (only !== undefined && more.length === 0) return only;
    return (render) => {
      for (const statement of statements) statement(render);
    };
  }

  #output(node: Node): Statement {
    const line = lineOf(node);
    if (node.typename === 'TemplateData') {
      const data = String(node.value);
      return (render) => render.print(data, line);
    }
    const value = this.expressions.defined(node);
    return (render) => {
      const text = printed(value(render), line);
      // A value with line breaks would become lines of the file, with keys of its own.
      if (LINE_BREAK.test(text)) throw new TemplateError(line, 'a text with line breaks is printed here; use the filter tojson or to_yaml');
      render.print(text, line);
    };
  }

  #if(cond: Node, body: Node, else_: Node | null): Statement {
    if (cond.typename === 'InlineIf') throw new TemplateError(lineOf(cond), 'put "a if b else c" in parentheses here');
    const condition = this.expressions.condition(cond);
    const [then, otherwise] = [this.build(body), else_ === null ? null : this.build(else_)];
    return (render) => (condition(render) ? then(render) : otherwise?.(render));
  }

  #set({ targets, value, ...node }: SetNode): Statement {
    const [target, ...more] = targets;
    if (target?.typename !== 'Symbol' || more.length > 0 || value === null)
      throw new TemplateError(lineOf(node), 'write {% set name = value %}');
    const name = checkName(target.value, lineOf(node));
    const expression = this.expressions.defined(value);
    return (render) => render.scope.set(name, expression(render));
  }

  #for({ arr, name, body, else_, ...node }: ForNode): Statement {
    const line = lineOf(node);
    const names = (name.typename === 'Array' ? name.children : [name]).map((one) => this.#loopName(one, line));
    // `for x in list if condition` reaches us as an inline if.
    const filter = arr.typename === 'InlineIf' ? arr : null;
    if (filter !== null && filter.else_ !== null) throw new TemplateError(line, 'put "a if b else c" in parentheses here');
    const list = this.expressions.defined(filter?.body ?? arr);
    const wanted = filter === null ? null : this.expressions.condition(filter.cond);
    const [turn, otherwise] = [this.build(body), else_ === null ? null : this.build(else_)];
    return (render) => {
      const items = itemsOf(list(render), { budget: render.budget, line });
      render.budget.spend(items.length * TURN, line);
      const all = items.map((item) => unpacked(names, item, line));
      const turns = wanted === null ? all : all.filter((own) => holds(render, own, wanted));
      for (const [index, own] of turns.entries()) render.inner([...own, ['loop', loopOf(index, turns.length)]], () => turn(render));
      if (turns.length === 0) otherwise?.(render);
    };
  }

  #loopName(node: Node, line: number): string {
    if (node.typename !== 'Symbol' || node.value === 'loop')
      throw new TemplateError(line, 'a loop needs plain names: {% for name in list %}');
    return checkName(node.value, line);
  }
}

type Names = readonly (readonly [string, Value])[];

function holds(render: Render, names: Names, condition: (render: Render) => boolean): boolean {
  let answer = false;
  render.inner(names, () => {
    answer = condition(render);
  });
  return answer;
}

function unpacked(names: readonly string[], item: Value, line: number): Names {
  const [only, ...more] = names;
  if (only !== undefined && more.length === 0) return [[only, item]];
  if (!isList(item) || item.length !== names.length)
    throw new TemplateError(line, `each item must be a list of ${names.length} (of a map use .items())`);
  return names.map((name, index) => [name, item[index] ?? null]);
}

function loopOf(index: number, length: number): Value {
  const revindex = length - index;
  return { index: index + 1, index0: index, revindex, revindex0: revindex - 1, first: index === 0, last: revindex === 1, length };
}
