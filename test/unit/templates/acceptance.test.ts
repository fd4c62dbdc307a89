import { describe, expect, it } from 'vitest';
import { NunjucksRenderer } from '../../../lib/adapters/templates/renderer.ts';
import type { JsonObject } from '../../../lib/domain/shared/fleet.ts';
import { cpuSeconds } from '../../support/cpu.ts';

const renderer = new NunjucksRenderer();
const CONTEXT = { cluster: { name: 'fra-1', region: 'eu', labels: { note: 'a\nreplicas: 99' } } };

async function config(template: string, context: JsonObject = CONTEXT): Promise<JsonObject> {
  const rendered = await renderer.config(template, context);
  if (!rendered.ok) throw new Error(rendered.error);
  return rendered.config;
}
async function refused(template: string, context: JsonObject = CONTEXT): Promise<string> {
  const rendered = await renderer.config(template, context);
  return rendered.ok ? `not refused: ${JSON.stringify(rendered.config)}` : rendered.error;
}

describe('templates and YAML', () => {
  it.each(['tojson', 'to_yaml'])('B41 %s delivers signs that the web would escape, byte for byte', async (filter) => {
    const value = `p&w<x>'q"`;
    expect(await config(`password: {{ v | ${filter} }}\n`, { v: value })).toEqual({ password: value });
    expect(await renderer.text('{{ v }}', { v: value })).toEqual({ ok: true, text: value });
  });

  it('B42 a, b: the constructors of functions are not reached, and say nothing', async () => {
    const program = '"return process.env.HOME"';
    for (const template of [`a: {{ range.constructor(${program})() }}`, `a: {{ cycler("x").constructor.constructor(${program})() }}`])
      expect(await refused(template)).toMatch(/^line 1: .*function that templates can call$/);
  });

  it('B42 c: endless loops are stopped', async () => {
    expect(await refused('{% for i in range(3000000) %}{{ i }}{% endfor %}')).toMatch(/range gives at most 1000/);
    const nested = 'a: 1{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{% endfor %}{% endfor %}{% endfor %}';
    expect(await cpuSeconds(async () => expect(await refused(nested)).toMatch(/does too much work/))).toBeLessThan(2);
  });

  it.each(['include', 'import', 'extends'])('B42 d: files are not read by %s', async (tag) => {
    expect(await refused(`{% ${tag} "/etc/passwd" %}`)).toBe(`line 1: the tag {% ${tag} %} is not supported`);
  });

  it('B43 a: a mistyped field is named with its line', async () => {
    expect(await refused('name: x\nregion: {{ cluster.regoin }}')).toBe('line 2: cluster.regoin is not defined');
  });

  it('B43 b: a mistyped name is named with its line', async () => {
    expect(await refused('region: {{ clustr.region }}')).toBe('line 1: clustr is not defined');
  });

  it('B43 c: a condition does not take a mistyped name for false', async () => {
    expect(await refused('x: {% if clustr.prod %}a{% else %}b{% endif %}')).toBe('line 1: clustr is not defined');
    expect(await refused('x: {% if not cluster.prod %}a{% else %}b{% endif %}')).toBe('line 1: cluster.prod is not defined');
  });

  it('B43 d: True and False are what they are in Jinja2', async () => {
    expect(await config('debug: {{ True }}\nquiet: {{ False }}\nlower: {{ true }}')).toEqual({ debug: true, quiet: false, lower: true });
  });

  it.each(['tojson', 'to_yaml'])('B45 b: a text with line breaks stays one text through %s', async (filter) => {
    const template = `replicas: 3\nnote: {{ cluster.labels.note | ${filter} }}\n`;
    expect(await config(template)).toEqual({ replicas: 3, note: 'a\nreplicas: 99' });
  });

  it('B45 c: without a quoting filter it fails, with every kind of line break', async () => {
    for (const sign of ['\n', '\r', '\u0085', '\u2028'])
      expect(await refused('replicas: 3\nnote: {{ v }}', { v: `a${sign}replicas: 99` })).toMatch(/^line 2: a text with line breaks/);
  });

  it('B47 a: merge keys are honoured', async () => {
    expect(await config('base: &base {a: 1}\nuse:\n  <<: *base\n  c: 2\n')).toEqual({ base: { a: 1 }, use: { a: 1, c: 2 } });
  });

  it('B47 b: doubled keys are refused with the line', async () => {
    const template = `replicas: 3\n${'# more\n'.repeat(20)}replicas: 5\n`;
    expect(await refused(template)).toBe('line 22 of the rendered YAML (replicas): this key is there twice; remove one of them');
  });

  it('B48 a: an anchor bomb is refused at once', async () => {
    const levels = Array.from({ length: 20 }, (_, n) => `l${n + 1}: &l${n + 1} [*l${n}, *l${n}]`);
    const bomb = ['l0: &l0 [x, x, x, x]', ...levels].join('\n');
    expect(await cpuSeconds(async () => expect(await refused(bomb)).toMatch(/more than 10000 values/))).toBeLessThan(1);
  });

  it.each([53, 150])('B48 b, c: an anchor used %i times is honest', async (times) => {
    const uses = Array.from({ length: times }, (_, n) => `m${n}: *one`);
    expect(Object.keys(await config(['one: &one {a: 1, b: [2]}', ...uses].join('\n')))).toHaveLength(times + 1);
  });

  it('boundary 13: default keeps 0 and false, stands in for what is missing, and not for null', async () => {
    const template = 'n: {{ r | default(3) }}';
    expect(await config(template, { r: 0 })).toEqual({ n: 0 });
    expect(await config(template, { r: false })).toEqual({ n: false });
    expect(await config(template, {})).toEqual({ n: 3 });
    expect(await refused(template, { r: null })).toMatch(/^line 1: none is printed here/);
  });
});

describe('rendered YAML', () => {
  it.each([
    ['a: 1\n---\nb: 2\n', /line 2 .*second document/],
    ['a: !secret x\n', /tag/i],
    ['a: 9007199254740993\n', /beyond ±2\^53/],
    ['a: .inf\n', /finite/],
    ['a: .nan\n', /finite/],
    ['1: a\n', /key must be a text/],
    ['a: [1\n', /^line \d+ of the rendered YAML/],
    ['- a\n', /must be a map/],
    ['', /must be a map/],
    ['text', /must be a map/],
  ])('%j is refused', async (template, reason) => {
    expect(await refused(template)).toMatch(reason);
  });

  it('keeps the last line break, so that a block text keeps its own', async () => {
    expect(await config('a: |\n  text\n')).toEqual({ a: 'text\n' });
  });

  it('refuses now in a config and knows it in a text', async () => {
    expect(await refused('a: 1\nb: {{ now }}', { now: '2026' })).toMatch(/^line 2: "now" cannot be used/);
    expect(await renderer.text('{{ now }}', { now: '2026' })).toEqual({ ok: true, text: '2026' });
  });

  it.each(['credential_get_or_create("db")', 'backup_schedule_cron()'])('refuses %s by name until there is such a thing', async (call) => {
    expect(await refused(`a: {{ ${call} }}`)).toMatch(new RegExp(`${call.split('(')[0]}\\(\\) is not available in this version`));
  });
});
