/** Conditions and updates as data, so that no attribute name is ever a reserved word and no placeholder is used twice. */

export type Scalar = string | number | boolean | Uint8Array | Set<string>;
export type Condition =
  | { readonly op: '=' | '<' | '<=' | '>='; readonly attr: string; readonly value: Scalar }
  | { readonly op: 'exists' | 'not_exists'; readonly attr: string }
  | { readonly op: 'size<'; readonly attr: string; readonly value: number }
  | { readonly op: 'in'; readonly attr: string; readonly values: readonly Scalar[] }
  | { readonly op: 'and' | 'or'; readonly parts: readonly Condition[] };

export const eq = (attr: string, value: Scalar): Condition => ({ op: '=', attr, value });
export const lt = (attr: string, value: Scalar): Condition => ({ op: '<', attr, value });
export const lte = (attr: string, value: Scalar): Condition => ({ op: '<=', attr, value });
export const gte = (attr: string, value: Scalar): Condition => ({ op: '>=', attr, value });
export const exists = (attr: string): Condition => ({ op: 'exists', attr });
export const missing = (attr: string): Condition => ({ op: 'not_exists', attr });
export const smallerThan = (attr: string, value: number): Condition => ({ op: 'size<', attr, value });
export const oneOf = (attr: string, values: readonly Scalar[]): Condition => ({ op: 'in', attr, values });
export const and = (...parts: readonly Condition[]): Condition => ({ op: 'and', parts });
export const or = (...parts: readonly Condition[]): Condition => ({ op: 'or', parts });

/** `a.b` addresses key b of map a. A null in `set` removes the attribute: what is null is not stored. */
export interface Update {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly add?: Readonly<Record<string, number | Set<string>>>;
  readonly delete?: Readonly<Record<string, Set<string>>>;
  readonly remove?: readonly string[];
  /** Written only where the attribute does not exist yet. */
  readonly default?: Readonly<Record<string, unknown>>;
}

export interface Expression {
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
}

export class ExpressionBuilder {
  readonly #names = new Map<string, string>();
  readonly #values: Record<string, unknown> = {};
  #count = 0;

  path(attr: string): string {
    return attr
      .split('.')
      .map((name) => {
        const known = this.#names.get(name);
        if (known !== undefined) return known;
        const placeholder = `#${this.#names.size}`;
        this.#names.set(name, placeholder);
        return placeholder;
      })
      .join('.');
  }

  value(value: unknown): string {
    const placeholder = `:${this.#count++}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  condition(c: Condition): string {
    switch (c.op) {
      case 'exists':
        return `attribute_exists(${this.path(c.attr)})`;
      case 'not_exists':
        return `attribute_not_exists(${this.path(c.attr)})`;
      case 'size<':
        return `size(${this.path(c.attr)}) < ${this.value(c.value)}`;
      case 'in':
        return `${this.path(c.attr)} IN (${c.values.map((v) => this.value(v)).join(', ')})`;
      case 'and':
      case 'or':
        return `(${c.parts.map((p) => this.condition(p)).join(` ${c.op.toUpperCase()} `)})`;
      default:
        return `${this.path(c.attr)} ${c.op} ${this.value(c.value)}`;
    }
  }

  update(u: Update): string {
    const set = Object.entries(u.set ?? {});
    const sets = [
      ...set.filter(([, v]) => v !== null).map(([k, v]) => `${this.path(k)} = ${this.value(v)}`),
      ...Object.entries(u.default ?? {}).map(([k, v]) => `${this.path(k)} = if_not_exists(${this.path(k)}, ${this.value(v)})`),
    ];
    const removes = [...set.filter(([, v]) => v === null).map(([k]) => k), ...(u.remove ?? [])].map((k) => this.path(k));
    const adds = Object.entries(u.add ?? {}).map(([k, v]) => `${this.path(k)} ${this.value(v)}`);
    const deletes = Object.entries(u.delete ?? {}).map(([k, v]) => `${this.path(k)} ${this.value(v)}`);
    return [
      sets.length > 0 ? `SET ${sets.join(', ')}` : '',
      removes.length > 0 ? `REMOVE ${removes.join(', ')}` : '',
      adds.length > 0 ? `ADD ${adds.join(', ')}` : '',
      deletes.length > 0 ? `DELETE ${deletes.join(', ')}` : '',
    ]
      .filter((s) => s !== '')
      .join(' ');
  }

  /** Names and values are left out when there are none: the service refuses empty maps. */
  attributes(): Pick<Expression, 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> {
    return {
      ...(this.#names.size > 0 ? { ExpressionAttributeNames: Object.fromEntries([...this.#names].map(([name, p]) => [p, name])) } : {}),
      ...(this.#count > 0 ? { ExpressionAttributeValues: this.#values } : {}),
    };
  }
}

export function expressionOf(parts: { update?: Update | undefined; condition?: Condition | undefined }): Expression {
  const builder = new ExpressionBuilder();
  const update = parts.update === undefined ? {} : { UpdateExpression: builder.update(parts.update) };
  const condition = parts.condition === undefined ? {} : { ConditionExpression: builder.condition(parts.condition) };
  return { ...update, ...condition, ...builder.attributes() };
}
