/** DynamoDB's JSON form of values, as the SDK's marshaller makes it; a test holds the two together. */
export type Attribute =
  | { S: string }
  | { N: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { B: string }
  | { L: Attribute[] }
  | { M: Record<string, Attribute> }
  | { SS: string[] }
  | { NS: string[] };

export type Attributes = Record<string, Attribute>;

/** Assigning this name would set a prototype; the SDK leaves it out as well. */
const PROTOTYPE = '__proto__';

/** Undefined values are left out. */
export function attributesOf(value: object): Attributes {
  const attributes: Attributes = {};
  for (const [name, inner] of Object.entries(value)) if (inner !== undefined && name !== PROTOTYPE) attributes[name] = attributeOf(inner);
  return attributes;
}

function attributeOf(value: unknown): Attribute {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) throw new Error(`The table cannot keep ${value}.`);
      return { N: String(value) };
    case 'bigint':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      return objectAttribute(value);
    default:
      throw new Error(`The table cannot keep a ${typeof value}.`);
  }
}

function objectAttribute(value: object | null): Attribute {
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.map(attributeOf) };
  if (value instanceof Uint8Array) return { B: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  if (!(value instanceof Set)) return { M: attributesOf(value) };
  const members = [...value];
  if (members.length === 0) throw new Error('The table cannot keep an empty set.');
  return typeof members[0] === 'string' ? { SS: members.map(String) } : { NS: members.map(String) };
}

/** In the order of their names: the table answers in another order each time, and rows of one shape are copied four times as fast. */
export function valuesOf(attributes: Attributes): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(attributes).sort()) {
    const attribute = attributes[name];
    if (attribute !== undefined && name !== PROTOTYPE) values[name] = plainOf(attribute);
  }
  return values;
}

function plainOf(attribute: Attribute): unknown {
  if ('S' in attribute) return attribute.S;
  if ('N' in attribute) return Number(attribute.N);
  if ('M' in attribute) return valuesOf(attribute.M);
  if ('L' in attribute) return attribute.L.map(plainOf);
  if ('BOOL' in attribute) return attribute.BOOL;
  if ('NULL' in attribute) return null;
  if ('B' in attribute) return new Uint8Array(Buffer.from(attribute.B, 'base64'));
  if ('SS' in attribute) return new Set(attribute.SS);
  return new Set(attribute.NS.map(Number));
}

/** Rows in errors stay as the wire has them, but for bytes, which the SDK unpacks there too. */
export function withBytes(attribute: unknown): unknown {
  if (typeof attribute !== 'object' || attribute === null) return attribute;
  if (Array.isArray(attribute)) return attribute.map(withBytes);
  return Object.fromEntries(
    Object.entries(attribute).map(([name, inner]) => [
      name,
      name === 'B' && typeof inner === 'string' ? new Uint8Array(Buffer.from(inner, 'base64')) : withBytes(inner),
    ]),
  );
}
