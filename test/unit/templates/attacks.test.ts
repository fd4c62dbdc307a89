import { afterEach, describe, expect, it } from 'vitest';
import { NunjucksRenderer } from '../../../lib/adapters/templates/renderer.ts';
import type { JsonObject } from '../../../lib/domain/shared/fleet.ts';
import { cpuSeconds } from '../../support/cpu.ts';

const renderer = new NunjucksRenderer();
const CONTEXT: JsonObject = { s: 'text', n: 1, l: ['a', 'b'], m: { a: 'x' }, key: 'constructor' };
const reached: { reached?: boolean } = globalThis as object;
afterEach(() => {
  delete reached.reached;
});

async function refused(template: string, context = CONTEXT): Promise<void> {
  const answer = await renderer.text(template, context);
  expect([template, answer]).toEqual([template, { ok: false, error: expect.any(String) }]);
  expect(reached.reached).toBeUndefined();
}

const PROGRAM = '"globalThis.reached = true"';

describe('a template cannot reach the program', () => {
  it.each([
    ...['s', 'n', 'l', 'm', 'range', 'loop', 'self', 'this', '""', '[]', '{}', '(1)'].flatMap((start) => [
      `{{ ${start}.constructor.constructor(${PROGRAM})() }}`,
      `{{ ${start}["constructor"]["constructor"](${PROGRAM})() }}`,
      `{{ ${start}["con" ~ "structor"] }}`,
      `{{ ${start}[key] }}`,
      `{{ ${start}.__proto__ }}`,
      `{{ ${start}["__proto__"] }}`,
      `{{ ${start}["__pro" ~ "to__"] }}`,
      `{{ ${start}.toString }}`,
      `{{ ${start}.toString() }}`,
      `{{ ${start}.valueOf() }}`,
      `{{ ${start}.hasOwnProperty("a") }}`,
    ]),
    ...['cycler', 'joiner', 'lipsum', 'namespace', 'dict', 'caller', 'super', 'eval', 'require', 'Function'].map(
      (f) => `{{ ${f}(${PROGRAM}) }}`,
    ),
    ...[
      'process',
      'globalThis',
      'global',
      'constructor',
      'prototype',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'env',
      'context',
      'frame',
      'runtime',
    ].map((name) => `{{ ${name} }}`),
    ...[
      'attr("constructor")',
      'map("constructor")',
      'map(attribute="constructor")',
      'groupby("constructor")',
      'sort(attribute="constructor")',
    ].map((filter) => `{{ l | ${filter} }}`),
    ...[
      'selectattr("constructor")',
      'join(attribute="constructor")',
      'constructor',
      '__proto__',
      'toString',
      'safe',
      'dump',
      'hasOwnProperty',
    ].map((filter) => `{{ l | ${filter} }}`),
    ...['constructor', '__proto__', 'toString', 'callable', 'constructor("x")'].map((test) => `{{ s is ${test} }}`),
    `{% macro f() %}${PROGRAM}{% endmacro %}{{ f() }}`,
    '{% call s() %}{% endcall %}',
    '{% import "/etc/passwd" as x %}',
    '{% from "/etc/passwd" import x %}',
    '{% extends "/etc/passwd" %}',
    '{% include "../../package.json" ignore missing %}',
    '{% block a %}{% endblock %}',
    '{% asyncEach x in l %}{% endeach %}',
    '{% asyncAll x in l %}{% endall %}',
    '{% ifAsync s %}{% endif %}',
    '{% set constructor = 1 %}',
    '{% set __proto__ = 1 %}',
    '{% set m.a = 1 %}',
    '{% for __proto__ in l %}{% endfor %}',
    '{{ {"__proto__": 1} }}',
    '{{ {"constructor": 1}.constructor }}',
    '{{ m.get("constructor") }}',
    '{{ m.get(key).call }}',
    '{{ m.pop("a") }}',
    '{{ m.update({}) }}',
    '{{ (range)(1) }}',
    '{{ [range][0](1) }}',
    '{{ range | tojson }}',
    '{{ l.items() }}',
    '{{ s.items() }}',
  ])('%s', (template) => refused(template));

  it.each([
    ['a name', '{{ a";globalThis.reached=true;" }}'],
    ['a name with a template text', '{{ a"`${globalThis.reached}`" }}'],
    ['a filter name', '{{ s | a";x" }}'],
    ['a test name', '{{ s is a";x" }}'],
    ['a field name', '{{ m.a";x" }}'],
    ['a loop name', '{% for a";x" in l %}{% endfor %}'],
    ['a set name', '{% set a";x" = 1 %}'],
    ['a named argument', '{{ s | default(a";x"=1) }}'],
  ])('through program text in %s', (_, template) => refused(template));

  it('through text that looks like program', async () => {
    const nasty = '"+globalThis.reached+"`${globalThis.reached}`\\u0022\\';
    expect(await renderer.text(`${nasty}{{ v }}{{ 'a"+b\\\\' }}`, { v: nasty })).toEqual({ ok: true, text: `${nasty}${nasty}a"+b\\` });
  });

  it('through keys of the data that have the names of insides', async () => {
    const context = JSON.parse('{"m": {"__proto__": {"polluted": 1}, "constructor": "c", "toString": "t"}}') as JsonObject;
    expect(await renderer.text('{{ m.toString }}', context)).toEqual({ ok: true, text: 't' });
    await refused('{{ m.polluted }}', context);
    await refused('{{ m.constructor }}', context);
    expect(await renderer.text('{{ m | tojson }}', context)).toMatchObject({ ok: true });
    expect('polluted' in {}).toBe(false);
  });
});

describe('a template cannot do endless work', () => {
  const doubled = (times: number, step: string): string => `{% set x = "ab" %}${`{% set x = ${step} %}`.repeat(times)}`;
  const long = `{% set x = "a" %}${'{% set x = x ~ x %}'.repeat(18)}`;

  it.each([
    ['a text that doubles', `${doubled(60, 'x ~ x')}{{ x }}`],
    ['a text that grows by replacing', `${doubled(60, 'x | replace("b", x)')}{{ x }}`],
    ['a text that grows by joining', `${doubled(60, '[x, x, x] | join(x)')}{{ x }}`],
    ['a list that doubles', `{% set x = [1] %}${'{% set x = x + x %}'.repeat(60)}{{ x | length }}`],
    ['a tree of lists as JSON', `{% set x = [1] %}${'{% set x = [x, x] %}'.repeat(60)}{{ x | tojson }}`],
    ['trees of lists compared', `{% set x = [1] %}{% set y = [1] %}${'{% set x = [x, x] %}{% set y = [y, y] %}'.repeat(60)}{{ x == y }}`],
    ['JSON of JSON', `{% set x = '"' %}${'{% set x = x | tojson %}'.repeat(60)}{{ x }}`],
    ['much output', `${long}{% for i in range(1000) %}{{ x }}{% endfor %}`],
    ['much output of the template itself', `{% for i in range(1000) %}${'x'.repeat(1000)}{% endfor %}`],
    [
      'long texts in a loop',
      `${long}{% for i in range(1000) %}{% for j in range(1000) %}{% set y = x | upper | lower | trim %}{% endfor %}{% endfor %}`,
    ],
    [
      'long texts compared',
      `${long}{% set y = x ~ "" %}{% for i in range(1000) %}{% for j in range(1000) %}{% if x == y or x < y %}{% endif %}{% endfor %}{% endfor %}`,
    ],
    ['a long text looked for', `${long}{% set y = (x | replace("aaaa", "a")) ~ "b" %}{% for i in range(1000) %}{{ y in x }}{% endfor %}`],
    ['loops in loops', '{% for a in range(999) %}{% for b in range(999) %}{% for c in range(999) %}{% endfor %}{% endfor %}{% endfor %}'],
    [
      'sorting in loops',
      `{% for a in range(999) %}{% for b in range(999) %}{% set x = range(999) | sort(reverse=true) %}{% endfor %}{% endfor %}`,
    ],
    ['deep parentheses', `{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`],
    ['deep lists', `{{ ${'['.repeat(5_000)}${']'.repeat(5_000)} }}`],
    ['many operators', `{{ 1${' + 1'.repeat(15_000)} }}`],
    ['many filters', `{{ s${' | lower'.repeat(7_000)} }}`],
    ['many signs', `{{ ${'- '.repeat(30_000)}1 }}`],
    ['deep conditions', `${'{% if n %}'.repeat(3_000)}${'{% endif %}'.repeat(3_000)}`],
    ['many branches', `{% if n == 0 %}${'{% elif n == 0 %}'.repeat(3_000)}{% endif %}`],
    ['many blanks', `${' '.repeat(60_000)}x{{- n }}`],
    ['a large template', 'x'.repeat(64 * 1024 + 1)],
  ])('%s', async (_, template) => {
    expect(await cpuSeconds(() => refused(template))).toBeLessThan(2);
  });

  it.each([
    ['open braces', '{ '.repeat(32_000)],
    ['open comments', '{#'.repeat(30_000)],
    ['open variables', '{{'.repeat(30_000)],
    ['quotes', `{{ ${'"'.repeat(60_000)}`],
    ['blanks and words', '  x\n'.repeat(16_000)],
    ['trimmed blanks', [...Array.from({ length: 30 }, () => `${' '.repeat(1_900)}x`), '{{- n -}}'].join('')],
  ])('%s are read in time', async (_, template) => {
    const work = async (): Promise<void> => void (await renderer.text(template, CONTEXT));
    expect(await cpuSeconds(work)).toBeLessThan(2);
  });
});

describe('templates are kept', () => {
  it('but not more than 200, and never one for another', async () => {
    const own = new NunjucksRenderer();
    for (const round of [1, 2])
      for (let n = 0; n < 500; n++) expect(await own.text(`{{ n }}-${n}`, { n: round })).toEqual({ ok: true, text: `${round}-${n}` });
  });
});
