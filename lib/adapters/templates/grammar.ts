import { type BinaryNode, type CompareNode, lineOf, type Node } from './parse.ts';
import { TemplateError } from './values.ts';

/** Operators that bind less tightly than what stands beside them should. */
type Kind = Node['typename'];
const LOGIC: readonly Kind[] = ['Or', 'And', 'Not', 'InlineIf'];
const COMPARISONS: readonly Kind[] = ['Compare', 'In', 'Is'];
const SUMS: readonly Kind[] = ['Add', 'Sub', 'Concat'];
const PRODUCTS: readonly Kind[] = ['Mul', 'FloorDiv', 'Mod'];
const SIGNS: readonly Kind[] = ['Neg', 'Pos'];

const OPERANDS: Readonly<Record<BinaryNode['typename'], { left: readonly Kind[]; right: readonly Kind[] }>> = {
  Or: { left: [], right: [] },
  And: { left: [], right: [] },
  // Jinja2 reads "is" before everything else, "in" as a comparison, "~" before "+".
  Is: { left: [...LOGIC, ...COMPARISONS, ...SUMS, ...PRODUCTS, ...SIGNS], right: [] },
  In: { left: [...LOGIC, ...COMPARISONS], right: [...LOGIC, ...COMPARISONS] },
  Concat: { left: ['Add', 'Sub'], right: ['Add', 'Sub'] },
  Add: { left: [], right: [] },
  Sub: { left: [], right: ['Add'] },
  // nunjucks reads %, // and * one after the other, Jinja2 from left to right.
  Mul: { left: [], right: PRODUCTS },
  FloorDiv: { left: [], right: PRODUCTS },
  Mod: { left: [], right: PRODUCTS },
};

const refuse = (node: Node): never => {
  throw new TemplateError(lineOf(node), 'operators are mixed here in a way that is not read the same everywhere; use parentheses');
};

/** Refuses operators side by side that nunjucks groups differently from Jinja2. Parentheses are nodes of their own. */
export function checkOperands(node: BinaryNode): void {
  const { left, right } = OPERANDS[node.typename];
  if (left.includes(node.left.typename) || right.includes(node.right.typename)) refuse(node);
}

export function checkComparison(node: CompareNode): void {
  for (const operand of [node.expr, ...node.ops.map(({ expr }) => expr)])
    if (LOGIC.includes(operand.typename) || COMPARISONS.includes(operand.typename)) refuse(node);
}

const WORDS = new Set('and or not in is if else elif for set true false none null self super recursive caller varargs kwargs'.split(' '));

/** A name as Jinja2 knows names; those by which programs reach their own insides are refused wherever they stand. */
export function checkName(name: string, line: number): string {
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) || WORDS.has(name))
    throw new TemplateError(line, `"${name.slice(0, 100)}" cannot be a name here`);
  return checkKey(name, line);
}

export function checkKey(name: string, line: number): string {
  if (name.startsWith('__') || name === 'constructor' || name === 'prototype')
    throw new TemplateError(line, `"${name.slice(0, 100)}" cannot be looked up`);
  return name;
}
