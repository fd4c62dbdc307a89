import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseAllDocuments, type Scalar, type YAMLMap } from 'yaml';
import { isRefusedKey } from '../../contracts/object-keys.ts';

/**
 * SPEC §8 "YAML", §13: YAML 1.2 core plus merge keys, and nothing that means one thing to a person and another to a parser: doubled keys, several
 * documents, integers beyond ±2^53, `.inf`, `.nan`, keys that are not texts, unknown tags and alias bombs are refused. JSON is YAML too.
 */

export type Path = readonly (string | number)[];

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Mistake extends Position {
  /** e.g. `organizations[0].workspaces[1].name`; empty for the whole file. */
  readonly path: string;
  readonly reason: string;
}

export interface StrictYaml {
  /** The plain value; only meaningful without mistakes. */
  readonly value: unknown;
  readonly mistakes: readonly Mistake[];
  /** False when what was read is not the whole file, so that checking it further would only mislead. */
  readonly whole: boolean;
  /** Where the value at this path is written, or the key of it, or the nearest thing above it. */
  locate(path: Path, what?: 'value' | 'key'): Position;
  /** A plain scalar as it is written, e.g. `1.10`; null when it is something else. */
  sourceAt(path: Path): string | null;
}

const MAX_ALIAS_NODES = 10_000;
const MAX_DEPTH = 200;
const TOO_DEEP = `is nested too deeply; at most ${MAX_DEPTH} levels are read`;

export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

export function readStrictYaml(text: string): StrictYaml {
  const reader = new Reader(new LineCounter());
  reader.read(text);
  return reader;
}

type AnyNode = Node | null | undefined;

class TooMuch extends Error {}

class Reader implements StrictYaml {
  value: unknown = null;
  readonly mistakes: Mistake[] = [];
  whole = true;
  readonly #lines: LineCounter;
  #root: AnyNode = null;
  readonly #anchors = new Map<string, Node>();
  /** An alias means the anchor that stood before it when it was written, also where it is expanded later. */
  readonly #targets = new Map<Node, Node>();
  #aliasNodes = 0;
  readonly #expanding: Node[] = [];

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  read(text: string): void {
    const documents = this.#parse(text);
    const [first, second] = documents;
    if (first === undefined) return;
    this.whole = first.errors.length === 0 && second === undefined;
    for (const problem of [...first.errors, ...first.warnings]) {
      const tooDeep = problem.message.includes('call stack');
      this.#mistake(problem.pos[0], [], tooDeep ? TOO_DEEP : plainReason(problem.code, problem.message));
      if (tooDeep) return;
    }
    if (second !== undefined) {
      this.#mistake(second.range[0], [], 'a second document begins here; write one document per file (remove the line "---")');
    }
    this.#root = first.contents;
    try {
      this.value = this.#convert(first.contents, [], 0);
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error;
      this.whole = false;
    }
  }

  #parse(text: string) {
    try {
      const options = { version: '1.2', schema: 'core', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
      return [...parseAllDocuments(text, { ...options, lineCounter: this.#lines })];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.whole = false;
      this.mistakes.push({ line: 1, column: 1, path: '', reason: TOO_DEEP });
      return [];
    }
  }

  locate(path: Path, what: 'value' | 'key' = 'value'): Position {
    let node: AnyNode = this.#resolved(this.#root);
    let offset = node?.range?.[0] ?? 0;
    for (const [index, part] of path.entries()) {
      const pair = isMap(node) ? findPair(node, String(part), (n) => this.#resolved(n)) : null;
      const child: AnyNode = pair !== null ? (pair.value as AnyNode) : isSeq(node) ? (node.items[Number(part)] as AnyNode) : null;
      const key = pair?.key as AnyNode;
      if (pair === null && child === null) break;
      offset = (what === 'key' && index === path.length - 1 ? key?.range?.[0] : child?.range?.[0]) ?? key?.range?.[0] ?? offset;
      node = this.#resolved(child);
    }
    return this.#position(offset);
  }

  sourceAt(path: Path): string | null {
    let node: AnyNode = this.#resolved(this.#root);
    for (const part of path) {
      const pair = isMap(node) ? findPair(node, String(part), (n) => this.#resolved(n)) : null;
      node = this.#resolved(pair !== null ? (pair.value as AnyNode) : isSeq(node) ? (node.items[Number(part)] as AnyNode) : null);
    }
    return isScalar(node) && node.type === 'PLAIN' ? (node.source ?? null) : null;
  }

  #position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  #mistake(at: number | undefined, path: Path, reason: string): void {
    this.mistakes.push({ ...this.#position(at ?? 0), path: pathText(path), reason });
  }

  #resolved(node: AnyNode): AnyNode {
    return isAlias(node) ? (this.#targets.get(node) ?? null) : node;
  }

  #convert(node: AnyNode, path: Path, depth: number): unknown {
    if (node === null || node === undefined) return null;
    if (depth > MAX_DEPTH) {
      this.#mistake(node.range?.[0], path.slice(0, 10), TOO_DEEP);
      throw new TooMuch();
    }
    if (this.#expanding.length > 0) this.#countExpanded(node, path);
    if (isAlias(node)) return this.#expand(node, path, depth);
    if (this.#expanding.length === 0 && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isMap(node)) return this.#map(node, path, depth);
    if (isSeq(node)) return node.items.map((item, index) => this.#convert(item as AnyNode, [...path, index], depth + 1));
    return isScalar(node) ? this.#scalar(node, path) : null;
  }

  #countExpanded(node: Node, path: Path): void {
    this.#aliasNodes += 1;
    if (this.#aliasNodes <= MAX_ALIAS_NODES) return;
    const outermost = this.#expanding[0] ?? node;
    this.#mistake(
      outermost.range?.[0],
      path,
      `the aliases of this file stand for more than ${MAX_ALIAS_NODES} values; write them out or use fewer`,
    );
    throw new TooMuch();
  }

  #expand(alias: Node & { source: string }, path: Path, depth: number): unknown {
    const target = this.#targets.get(alias) ?? this.#anchors.get(alias.source);
    if (target === undefined) {
      this.#mistake(alias.range?.[0], path, `there is no anchor &${alias.source} before this alias`);
      return null;
    }
    this.#targets.set(alias, target);
    if (this.#expanding.includes(alias)) {
      this.#mistake(alias.range?.[0], path, `the anchor &${alias.source} contains itself`);
      throw new TooMuch();
    }
    this.#expanding.push(alias);
    const value = this.#convert(target, path, depth + 1);
    this.#expanding.pop();
    return value;
  }

  #map(map: YAMLMap, path: Path, depth: number): Record<string, unknown> {
    const own: Record<string, unknown> = {};
    const merged: Record<string, unknown>[] = [];
    const seen = new Set<string>();
    for (const pair of map.items as Pair<AnyNode, AnyNode>[]) {
      if (isMergeKey(pair.key)) merged.push(...this.#mergeSources(pair, path, depth));
      const key = isMergeKey(pair.key) ? null : this.#key(pair, path, seen);
      if (key === null) continue;
      own[key] = this.#convert(pair.value, [...path, key], depth + 1);
    }
    if (merged.length === 0) return own;
    return Object.assign({}, ...merged.reverse(), own) as Record<string, unknown>;
  }

  #key(pair: Pair<AnyNode, AnyNode>, path: Path, seen: Set<string>): string | null {
    const { key } = pair;
    const at = key?.range?.[0] ?? pair.value?.range?.[0];
    if (!isScalar(key) || typeof key.value !== 'string') {
      const source = isScalar(key) ? ` (write "${key.source ?? ''}" in quotes)` : '';
      this.#mistake(at, path, `a key must be a text${source}`);
      return null;
    }
    if (isRefusedKey(key.value)) {
      this.#mistake(at, path, `the key ${key.value} is not allowed; choose another`);
      return null;
    }
    if (seen.has(key.value)) {
      this.#mistake(at, [...path, key.value], 'this key is there twice; remove one of them');
      return null;
    }
    seen.add(key.value);
    return key.value;
  }

  #mergeSources(pair: Pair<AnyNode, AnyNode>, path: Path, depth: number): Record<string, unknown>[] {
    const value = this.#convert(pair.value, path, depth + 1);
    const sources = Array.isArray(value) ? value : [value];
    if (sources.every(isRecord)) return sources;
    this.#mistake(pair.key?.range?.[0], path, '"<<" merges a map or a list of maps, and this is something else');
    return [];
  }

  #scalar(scalar: Scalar, path: Path): unknown {
    const { value, source } = scalar;
    if (typeof value !== 'number') return value;
    if (!Number.isFinite(value)) this.#mistake(scalar.range?.[0], path, `${source ?? value} is not a finite number`);
    else if (Number.isInteger(value) && !Number.isSafeInteger(value) && !/^[-+]?[\d.]+[eE.]/.test(source ?? '')) {
      this.#mistake(scalar.range?.[0], path, `${source ?? value} is beyond ±2^53 and would be rounded; write it in quotes as a text`);
    }
    return value;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const isMergeKey = (key: AnyNode): boolean => isScalar(key) && key.value === '<<' && key.type === 'PLAIN';

/** The pair that gives this key its value: the map's own, else the first merged map that has it. */
function findPair(map: YAMLMap, key: string, resolve: (node: AnyNode) => AnyNode): Pair<AnyNode, AnyNode> | null {
  const pairs = map.items as Pair<AnyNode, AnyNode>[];
  const own = pairs.find((pair) => isScalar(pair.key) && pair.key.value === key && !isMergeKey(pair.key));
  if (own !== undefined) return own;
  for (const pair of pairs.filter((candidate) => isMergeKey(candidate.key))) {
    const value = resolve(pair.value);
    for (const source of isSeq(value) ? (value.items as AnyNode[]) : [value]) {
      const target = resolve(source);
      const found = isMap(target) ? findPair(target, key, resolve) : null;
      if (found !== null) return found;
    }
  }
  return null;
}

/** The parser's own words where they help; its internal ones turned into a thing to do. */
function plainReason(code: string, message: string): string {
  const [line] = message.split('\n');
  if (code === 'TAG_RESOLVE_FAILED') return `${line}; tags are not read, remove it`;
  if (code === 'TAB_AS_INDENT') return 'a tab is used as indentation; use blanks';
  return line ?? message;
}
