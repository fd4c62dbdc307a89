import { Budget, type MapValue, Missing, type Value } from './values.ts';

/** The names of a loop's turn, or of the whole template; a name set inside a loop ends with its turn, as in Jinja2. */
export class Scope {
  readonly #names = new Map<string, Value>();
  readonly #outer: Scope | null;

  constructor(outer: Scope | null) {
    this.#outer = outer;
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }

  find(name: string): Value | undefined {
    const own = this.#names.get(name);
    return own === undefined && this.#outer !== null ? this.#outer.find(name) : own;
  }
}

/** One rendering. */
export class Render {
  readonly budget = new Budget();
  readonly #context: MapValue;
  readonly #parts: string[] = [];
  #length = 0;
  scope = new Scope(null);

  constructor(context: MapValue) {
    this.#context = context;
  }

  lookup(name: string): Value | Missing {
    const set = this.scope.find(name);
    const value = set === undefined ? fieldOf(this.#context, name) : set;
    return value === undefined ? new Missing(name) : value;
  }

  print(text: string, line: number): void {
    this.#length += text.length;
    this.budget.fits(this.#length, line, text.length);
    this.#parts.push(text);
  }

  text(): string {
    return this.#parts.join('');
  }

  /** What `work` sets is forgotten afterwards. */
  inner(names: Iterable<readonly [string, Value]>, work: () => void): void {
    const outer = this.scope;
    this.scope = new Scope(outer);
    for (const [name, value] of names) this.scope.set(name, value);
    work();
    this.scope = outer;
  }
}

/** Own data only: nothing that a prototype lends. */
export function fieldOf(map: MapValue, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
