import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NunjucksRenderer } from '../../../lib/adapters/templates/renderer.ts';
import type { Json, JsonObject } from '../../../lib/domain/shared/fleet.ts';

const renderer = new NunjucksRenderer();
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\n', '\r', '"', "'", ':', '#', '-', ' ', '\u0085', '\u2028', '\ufeff', '😀', 'a', '{', '&', '\\') }),
);
const key = text.filter((name) => name !== '__proto__');
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((n) => (Object.is(n, -0) || (Number.isInteger(n) && !Number.isSafeInteger(n)) ? 0.5 : n)),
    text,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

describe('quoting', () => {
  it.each(['tojson', 'to_yaml'])('%s gives every value back as it was, wherever it stands', async (filter) => {
    await fc.assert(
      fc.asyncProperty(json, async (v) => {
        const template = `a: 1\nv: {{ v | ${filter} }}\nlist:\n  - {{ v | ${filter} }}\n  - {x: {{ v | ${filter} }}}\nz: 2\n`;
        expect(await renderer.config(template, { v })).toEqual({ ok: true, config: { a: 1, v, list: [v, { x: v }], z: 2 } });
      }),
    );
  });

  it('is the only way for a text to become more than its line', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (v) => {
        const rendered = await renderer.text('a: {{ v }}\nb: 1', { v });
        if (rendered.ok) expect(rendered.text.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(2);
      }),
    );
  });
});

/** Words from which both honest and hostile templates are made. */
const WORDS = [
  ...[
    '{{',
    '}}',
    '{%',
    '%}',
    '{#',
    '#}',
    '{{-',
    '-%}',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '.',
    ',',
    ':',
    '|',
    '=',
    '~',
    '+',
    '-',
    '*',
    '//',
    '%',
    '==',
    '<',
    '>=',
  ],
  ...[
    'if',
    'else',
    'elif',
    'endif',
    'for',
    'in',
    'endfor',
    'set',
    'is',
    'not',
    'and',
    'or',
    'defined',
    'none',
    'true',
    'include',
    'macro',
    'endmacro',
    'call',
  ],
  ...[
    's',
    'l',
    'm',
    'n',
    'x',
    'k',
    'loop',
    'range',
    'constructor',
    '__proto__',
    'prototype',
    'process',
    'globalThis',
    'cycler',
    'joiner',
    'this',
    'self',
  ],
  ...[
    'default',
    'tojson',
    'join',
    'sort',
    'attr',
    'map',
    'items',
    'get',
    'keys',
    'call',
    'apply',
    'bind',
    'toString',
    'valueOf',
    'env',
    'exit',
    'mainModule',
  ],
  ...[
    '"a"',
    "'constructor'",
    '"globalThis.touched = 1"',
    '0',
    '1',
    '-1',
    '1000',
    '2.5',
    '\n',
    ' ',
    'text',
    '"',
    "'",
    '`',
    '\\',
    ';',
    '$',
    'r/',
  ],
];
const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 40 }).map((parts) => parts.join(' '));

/** Expressions that the parser mostly takes. */
const { expression } = fc.letrec<{ expression: string; name: string }>((tie) => ({
  name: fc.constantFrom(
    's',
    'l',
    'm',
    'n',
    'f',
    'trap',
    'range',
    'constructor',
    '__proto__',
    'process',
    'globalThis',
    'cycler',
    'joiner',
    'undefined',
    'this',
  ),
  expression: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    tie('name'),
    fc.constantFrom(
      '"constructor"',
      '"__proto__"',
      '"globalThis.touched = 1"',
      '0',
      '-1',
      'none',
      'true',
      '[]',
      '{}',
      '"con" ~ "structor"',
    ),
    fc
      .tuple(tie('expression'), fc.constantFrom('constructor', '__proto__', 'prototype', 'a', 'items', 'call', 'toString', 'get'))
      .map(([e, f]) => `${e}.${f}`),
    fc.tuple(tie('expression'), tie('expression')).map(([e, f]) => `${e}[${f}]`),
    fc.tuple(tie('expression'), tie('expression')).map(([e, f]) => `${e}(${f})`),
    tie('expression').map((e) => `(${e})`),
    tie('expression').map((e) => `[${e}]`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('attr', 'map', 'default', 'first', 'tojson', 'string', 'join', 'sort', 'list', 'items', 'constructor'),
        tie('expression'),
      )
      .map(([e, f, a]) => `${e} | ${f}(${a})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('first', 'tojson', 'list', 'items', 'length', 'last'), tie('expression'))
      .map(([e, f]) => `${e} | ${f}`),
    fc
      .tuple(tie('expression'), fc.constantFrom('+', '~', '==', 'in', 'and', 'or', 'is', '<'), tie('expression'))
      .map(([a, o, b]) => `${a} ${o} ${b}`),
    fc.tuple(tie('expression'), tie('expression'), tie('expression')).map(([a, b, c]) => `${a} if ${b} else ${c}`),
  ),
}));
const template = fc.oneof(
  words,
  expression.map((e) => `{{ ${e} }}`),
  fc
    .tuple(expression, expression, expression)
    .map(([a, b, c]) => `{% set q = ${a} %}{% for x in ${b} %}{{ x | tojson }}{{ q }}{% else %}{{ ${c} }}{% endfor %}`),
  fc.tuple(expression, expression).map(([a, b]) => `{% if ${a} %}{{ ${b} }}{% else %}{{ ${b} | tojson }}{% endif %}`),
);

describe('any template', () => {
  const touched: { touched?: unknown } = globalThis as object;
  const secret = `sentinel-${Math.trunc(performance.now() * 1e6)}`;
  beforeAll(() => {
    process.env['TEMPLATE_SENTINEL'] = secret;
  });
  afterAll(() => {
    delete process.env['TEMPLATE_SENTINEL'];
  });

  it('is rendered or refused with a sentence, the same both times, and reaches nothing of the program', async () => {
    const context: JsonObject = {
      s: 'text',
      n: 3,
      l: ['a', 'b'],
      m: { a: 'x', constructor: 'mine' },
      trap: JSON.parse('{"__proto__": {"a": 1}, "toString": "mine"}') as Json,
    };
    const before = JSON.stringify(context);
    await fc.assert(
      fc.asyncProperty(template, async (source) => {
        const answer = await renderer.text(source, context);
        const said = answer.ok ? answer.text : answer.error;
        expect(said).not.toMatch(/\[native code\]|function\s*\w*\s*\(|\[object |node:|at .*\.[jt]s/);
        expect(said).not.toContain(secret);
        expect(touched.touched).toBeUndefined();
        expect(await new NunjucksRenderer().text(source, context)).toEqual(answer);
        expect(JSON.stringify(context)).toBe(before);
      }),
      { numRuns: Number(process.env['FC_RUNS'] ?? 3_000) },
    );
  });
});
