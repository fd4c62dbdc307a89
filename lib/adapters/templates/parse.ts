import lexer, { type Token } from 'nunjucks/src/lexer.js';
import nunjucks from 'nunjucks/src/parser.js';
import { TemplateError } from './values.ts';

/** The nodes of nunjucks' syntax tree that templates may consist of; every other one is refused by whoever meets it. */
interface Of<T extends string> {
  readonly typename: T;
  /** Counted from 0. */
  readonly lineno: number;
}
interface Binary<T extends string> extends Of<T> {
  readonly left: Node;
  readonly right: Node;
}
interface Nodes<T extends string> extends Of<T> {
  readonly children: readonly Node[];
}
export type PairNode = Of<'Pair'> & { readonly key: Node; readonly value: Node };
export type FilterNode = Of<'Filter'> & { readonly name: Node; readonly args: { readonly children: readonly Node[] } };
export type CallNode = Of<'FunCall'> & { readonly name: Node; readonly args: { readonly children: readonly Node[] } };
export type IfNode = Of<'If' | 'InlineIf'> & { readonly cond: Node; readonly body: Node; readonly else_: Node | null };
export type ForNode = Of<'For'> & { readonly arr: Node; readonly name: Node; readonly body: Node; readonly else_: Node | null };
export type SetNode = Of<'Set'> & { readonly targets: readonly Node[]; readonly value: Node | null };
export type CompareNode = Of<'Compare'> & { readonly expr: Node; readonly ops: readonly { readonly expr: Node; readonly type: string }[] };
export type LookupNode = Of<'LookupVal'> & { readonly target: Node; readonly val: Node };
export type BinaryNode = Binary<'Is' | 'In' | 'Or' | 'And' | 'Add' | 'Sub' | 'Mul' | 'FloorDiv' | 'Mod' | 'Concat'>;
export type Node =
  | Nodes<'Root' | 'NodeList' | 'Output' | 'Group' | 'Array'>
  | (Of<'Dict' | 'KeywordArgs'> & { readonly children: readonly PairNode[] })
  | (Of<'Literal' | 'TemplateData'> & { readonly value: unknown })
  | (Of<'Symbol'> & { readonly value: string })
  | (Of<'Not' | 'Neg' | 'Pos'> & { readonly target: Node })
  | PairNode
  | FilterNode
  | CallNode
  | IfNode
  | ForNode
  | SetNode
  | CompareNode
  | LookupNode
  | BinaryNode;

export const lineOf = (node: { readonly lineno: number }): number => node.lineno + 1;

const MAX_TEMPLATE = 64 * 1024;
/** The parser takes time with the square of these. */
const MAX_BLANKS = 2_000;

/** Reads a template with nunjucks' parser, and refuses what Jinja2 would read differently. Nothing of it is executed. */
export function parse(template: string): Node {
  if (Buffer.byteLength(template) > MAX_TEMPLATE) throw new TemplateError(null, 'a template may have at most 64 KiB');
  // Jinja2 makes every line break one \n.
  const text = template.replace(/\r\n?/g, '\n');
  if (text.split(/\S+/).some((blanks) => blanks.length > MAX_BLANKS))
    throw new TemplateError(null, `the template has more than ${MAX_BLANKS} blanks in a row; remove some`);
  const tokens = lexer.lex(text);
  const watch = new TokenWatch(text);
  const next = tokens.nextToken.bind(tokens);
  tokens.nextToken = () => {
    const start = tokens.index;
    const token = read(next, () => watch.at(tokens.lineno));
    if (token !== null) watch.see(token, text.slice(start, tokens.index));
    return token;
  };
  try {
    return new nunjucks.Parser(tokens).parseAsRoot() as Node;
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    if (error instanceof RangeError) throw new TemplateError(watch.line, 'expressions or tags are nested too deeply');
    throw new TemplateError(watch.line, reasonOf(error));
  }
}

/** The lexer's own errors name no line; it is the one that it has come to. */
function read(next: () => Token | null, failed: () => void): Token | null {
  try {
    return next();
  } catch (error) {
    failed();
    throw error;
  }
}

/** The parser's words without its path; its own accidents in ours. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error && !(error instanceof TypeError) ? (error.message.split('\n').at(-1)?.trim() ?? '') : '';
  return `the template cannot be read here${message === '' ? '' : ` (${message})`}`;
}

/** Signs and words that nunjucks reads and Jinja2 reads differently or not at all. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['===', 'use =='],
  ['!==', 'use !='],
  ['null', 'use none'],
  ['elseif', 'use elif'],
  ['/', 'use // (whole numbers)'],
  ['**', 'write the product out'],
]);
const TAGS = new Set(['if', 'elif', 'else', 'endif', 'for', 'endfor', 'set']);
const CLOSERS: Readonly<Record<string, string>> = {
  'left-paren': 'right-paren',
  'left-bracket': 'right-bracket',
  'left-curly': 'right-curly',
};
/** A map has these as methods in Jinja2, whatever its keys. */
const MAP_METHODS = new Set('clear copy fromkeys get items keys pop popitem setdefault update values'.split(' '));
const CALLED_METHODS = new Set(['items', 'keys', 'values', 'get']);

/** Sees each token as the parser gets it. */
class TokenWatch {
  line = 1;
  readonly #open: { readonly closer: string; readonly ofFilter: boolean }[] = [];
  #last: Token | null = null;
  #beforeLast: Token | null = null;
  #filterCallEnded = false;

  constructor(text: string) {
    if (/\0/.test(text)) throw new TemplateError(null, 'a template may not have NUL signs');
  }

  at(lineno: number): void {
    this.line = lineno + 1;
  }

  see(token: Token, raw: string): void {
    if (token.type === 'whitespace') return;
    this.at(token.lineno);
    this.#literal(token, raw);
    this.#word(token);
    this.#brackets(token);
    this.#beforeLast = this.#last;
    this.#last = token;
  }

  #refuse(reason: string): never {
    throw new TemplateError(this.line, reason);
  }

  #literal({ type, value }: Token, raw: string): void {
    if (type === 'regex') this.#refuse('a regular expression is not part of Jinja2');
    if (type === 'string' && (raw.length < 2 || raw.at(0) !== raw.at(-1))) this.#refuse('a text is not closed');
    if (type === 'string' && /\\[^ntr\\'"]/.test(raw.replaceAll('\\\\', '')))
      this.#refuse(`the escape in ${raw} is not read the same everywhere`);
    if (type === 'int' && !/^(0|[1-9]\d{0,15})$/.test(String(value))) this.#refuse(`the number ${raw} is not read the same everywhere`);
    if (type === 'float' && !/^(0|[1-9]\d{0,14})\.\d{0,14}[1-9]\d{0,14}$/.test(String(value)))
      this.#refuse(`the number ${raw} is not printed the same everywhere; write it as a text`);
  }

  #word({ type, value }: Token): void {
    const word = String(value);
    if (type !== 'symbol' && type !== 'operator' && type !== 'none') return;
    const instead = FOREIGN.get(word);
    if (instead !== undefined) this.#refuse(`"${word}" is not supported; ${instead}`);
    if (type === 'symbol' && this.#last?.type === 'block-start' && !TAGS.has(word)) this.#refuse(`the tag {% ${word} %} is not supported`);
  }

  #brackets(token: Token): void {
    this.#methodNotCalled(token);
    const opens = token.type === 'left-paren';
    if (this.#filterCallEnded && (opens || token.type === 'left-bracket' || token.value === '.'))
      this.#refuse('put the filter and what it is given in parentheses');
    this.#filterCallEnded = false;
    const closer = CLOSERS[token.type];
    if (closer !== undefined) this.#open.push({ closer, ofFilter: opens && this.#beforeLast?.type === 'pipe' });
    else if (token.type.startsWith('right-')) {
      const open = this.#open.pop();
      if (open?.closer !== token.type) this.#refuse(`${String(token.value)} closes what was not opened by its counterpart`);
      this.#filterCallEnded = open?.ofFilter === true;
    }
  }

  #methodNotCalled(token: Token): void {
    const name = String(this.#last?.value);
    if (this.#last?.type !== 'symbol' || this.#beforeLast?.value !== '.' || !MAP_METHODS.has(name)) return;
    if (token.type !== 'left-paren' || !CALLED_METHODS.has(name))
      this.#refuse(`.${name} is a method of maps in Jinja2; for a key of this name write ['${name}']`);
  }
}
