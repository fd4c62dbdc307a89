import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NunjucksRenderer } from '../../../lib/adapters/templates/renderer.ts';
import type { JsonObject } from '../../../lib/domain/shared/fleet.ts';

interface Answers {
  readonly context: JsonObject;
  readonly answers: readonly (readonly [template: string, text: string])[];
}
const { context, answers } = JSON.parse(readFileSync('test/unit/templates/jinja2-answers.json', 'utf8')) as Answers;
const renderer = new NunjucksRenderer();
const text = (template: string, over: JsonObject = {}) => renderer.text(template, { ...context, ...over });
const rendered = async (template: string, over: JsonObject = {}) => {
  const answer = await text(template, over);
  return answer.ok ? answer.text : answer.error;
};

describe('the same answer as Jinja2', () => {
  it(`for ${answers.length} templates of all kinds`, async () => {
    for (const [template, answer] of answers) expect([template, await text(template)]).toEqual([template, { ok: true, text: answer }]);
  });

  it.each([
    [
      'a name set in a loop ends with its turn',
      '{% set x = 0 %}{% for i in [1, 2] %}{{ x }}{% set x = i %}{{ x }} {% endfor %}{{ x }}',
      '01 02 0',
    ],
    ['a name set in a condition stays', '{% if true %}{% set x = 1 %}{% endif %}{{ x }}', '1'],
    ['a null that was set hides what is outside', '{% set s = none %}{{ s is none }}', 'True'],
    [
      'loops can leave items out',
      '{% for x in [1, 2, 3] if x != 2 %}{{ loop.index }}/{{ loop.length }}={{ x }} {% endfor %}',
      '1/2=1 2/2=3 ',
    ],
    ['empty lists, maps and texts are false', '{{ 1 if [] else 2 }}{{ 1 if {} else 2 }}{{ 1 if "" else 2 }}{{ 1 if 0 else 2 }}', '2222'],
    ['and, or give one of the two', '{{ "" or "x" }}{{ "a" and "b" }}{{ 0 and 1 }}', 'xb0'],
    [
      'whole numbers are divided as in Python',
      '{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 9007199254740991 // 2 }}',
      '-4 2 -2 4503599627370495',
    ],
    ['comparisons can be chained', '{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}', 'TrueFalse'],
    ['white space is cut where it says so', 'a \n{{- 1 -}}\n b {#- c -#} d', 'a1b d'.replace('b d', 'bd')],
    ['line breaks are one sign', 'a\r\nb\rc\n', 'a\nb\nc\n'],
    ['characters are counted, not halves of them', '{{ "😀é" | length }}{{ "😀é"[0] }}', '2😀'],
    ['texts are ordered by code points', '{{ "\uff5e" < "😀" }}', 'True'],
    ['sorting ignores case and keeps the order of equals', '{{ ["b", "A", "a", "B"] | sort | join }}', 'AabB'],
    ['named arguments', '{{ "" | default(boolean=true, default_value="x") }}', 'x'],
    [
      'maps speak for themselves',
      '{{ m.get("zz", 1) }}{% for k, v in em.items() %}{% endfor %}{{ m.keys() | join(",") }}',
      '1a,b,k-y,get1',
    ],
  ])('%s', async (_, template, answer) => {
    expect(await rendered(template)).toBe(answer);
  });
});

describe('refused with the line and the construct, for Jinja2 reads it differently or nunjucks alone knows it', () => {
  it.each([
    ['{{ 4 / 2 }}', '"/" is not supported'],
    ['{{ 2 ** 3 }}', '"**" is not supported'],
    ['{{ 1 === 1 }}', 'use =='],
    ['{{ 1 !== 1 }}', 'use !='],
    ['{{ null }}', 'use none'],
    ['{% if t %}{% elseif f %}{% endif %}', 'use elif'],
    ['{{ r/a/g }}', 'regular expression'],
    ['{{ "a\\x41" }}', 'escape'],
    ['{{ 1.0 }}', '1.0'],
    ['{{ 010 }}', '010'],
    ['{{ 99999999999999999 }}', '99999999999999999'],
    ['{{ 9999999999999999 }}', 'large number'],
    ['{{ (1, 2) }}', 'tuple'],
    ['{{ {a: 1} }}', 'in quotes'],
    ['{{ "a" ~ 1 + 2 }}', 'parentheses'],
    ['{{ 2 * 3 % 4 }}', 'parentheses'],
    ['{{ 1 == 2 is defined }}', 'parentheses'],
    ['{{ 1 in [1] == true }}', 'parentheses'],
    ['{{ s | default("a")("b") }}', 'parentheses'],
    ['{% if t if f %}{% endif %}', 'parentheses'],
    ['{% for x in l if t else ls %}{% endfor %}', 'parentheses'],
    ['{{ m.items }}', "['items']"],
    ['{{ (1] }}', 'closes'],
    ['{{ "a', 'not closed'],
    ['{% raw %}{% endraw %}', '{% raw %}'],
    ['{% filter upper %}a{% endfilter %}', '{% filter %}'],
    ['{% set x %}a{% endset %}', '{% endset %}'],
    ['{% set a, b = 1 %}', '{% set name = value %}'],
    ['{% switch s %}{% case 1 %}{% endswitch %}', '{% switch %}'],
    ['{{ s | random }}', 'random'],
    ['{{ s | title }}', 'title'],
    ['{{ lipsum() }}', 'lipsum'],
    ['{{ s is sameas(1) }}', 'sameas'],
    ['{{ ls | sort(attribute="x") }}', 'sort'],
    ['{{ s | default(1, 2, 3) }}', 'default'],
    ['{{ s | replace("a") }}', 'old and new'],
    ['{{ s | upper(1) }}', 'takes nothing'],
    ['{{ nul }}', 'none is printed'],
    ['{{ l }}', 'a list is printed'],
    ['{{ m }}', 'a map is printed'],
    ['{{ "a" ~ nul }}', 'none is printed'],
    ['{{ [nul] | join }}', 'none is printed'],
    ['{{ s + 1 }}', 'whole numbers'],
    ['{{ f2 + 1 }}', '2.5'],
    ['{{ 1 // 0 }}', 'division by 0'],
    ['{{ 9007199254740991 + 1 }}', '±2^53'],
    ['{{ 1 < "a" }}', 'no order'],
    ['{{ s.upper() }}', '.upper()'],
    ['{{ s.foo }}', 'no fields'],
    ['{{ 1 if f }}', 'without "else"'],
    ['{{ "1_000" | int }}', 'for sure'],
    ['{{ undef is none }}', 'undef is not defined'],
    ['{{ undef or 1 }}', 'undef is not defined'],
    ['{{ undef.x | default(1) }}', 'undef is not defined'],
    ['{{ loop.index }}', 'loop is not defined'],
    ['{% for loop in l %}{% endfor %}', 'plain names'],
    ['{% for a, b in l %}{% endfor %}', 'list of 2'],
    ['{% for a in s %}{% endfor %}', 'a list is needed'],
    ['{% for a in nul %}{% endfor %}', 'a list is needed'],
    ['{% if t %}', 'cannot be read'],
    ['{{ }}', 'cannot be read'],
    ['{{ s | }}', 'cannot be read'],
    ['a #} b', 'cannot be read'],
  ])('%j', async (template, words) => {
    const answer = await text(`\n${template}`);
    expect(answer).toMatchObject({ ok: false });
    expect(answer.ok ? '' : answer.error).toMatch(/^line 2: /);
    expect(answer.ok ? '' : answer.error).toContain(words);
  });
});
