import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resumeImports } from '../../../lib/app/import/advance.ts';
import { isRefusedKey, MAX_NESTING } from '../../../lib/contracts/object-keys.ts';
import { type Api, startApi } from '../../support/api.ts';
import { done, makeFleet } from '../../support/api-fleet.ts';

/** Names that JavaScript's own objects have: a careless look-up finds them where nobody put them. */
const ODD = [...Object.getOwnPropertyNames(Object.prototype), ...Object.getOwnPropertyNames(Array.prototype), 'prototype', 'id', '', 'pk'];
const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
);
/** JSON as a text: what a client sends is not what an object literal can hold. */
const objectText = (value: fc.Arbitrary<string>, min: number): fc.Arbitrary<string> =>
  fc
    .uniqueArray(fc.tuple(key, value), { minLength: min, maxLength: 4, selector: ([name]) => name })
    .map((pairs) => `{${pairs.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`);
const scalar = fc.constantFrom('1', '"a"', 'true', 'null', '[]', '[{"a":1}]', '-0.5');
const { config } = fc.letrec<{ config: string; value: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('config')),
  config: objectText(tie('value'), 1),
}));
const labels = objectText(
  fc.string({ maxLength: 10 }).map((text) => JSON.stringify(text)),
  1,
);

/** Every key of a JSON text, as it stands there. */
function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysOf)];
}
const refusedIn = (text: string): boolean => keysOf(JSON.parse(text)).some(isRefusedKey);

let sdk: Api;
let embedded: Api;
beforeAll(async () => {
  [sdk, embedded] = await Promise.all([startApi(), startApi({ embedded: true })]);
});
afterAll(() => Promise.all([sdk.stop(), embedded.stop()]));

describe.each([
  ['the SDK', () => sdk],
  ['the embedded client', () => embedded],
])('keys that a client chooses, through %s', (_name, api) => {
  it('come back as they were sent, or are refused by name; nothing fails and nothing is lost', async () => {
    const { cluster, block } = await makeFleet(api(), 'fuzz');
    const targets = [
      { path: `k8sclusters/${cluster.id}/`, field: 'labels', texts: labels },
      { path: `k8sclusters/${cluster.id}/`, field: 'annotations', texts: labels },
      { path: `blocks/${block.id}/`, field: 'config', texts: config },
      { path: 'system-config/', field: 'FREE_KEY', texts: config },
    ];
    const sent = fc.constantFrom(...targets).chain(({ path, field, texts }) => texts.map((text) => ({ path, field, text })));
    await fc.assert(
      fc.asyncProperty(sent, async ({ path, field, text }) => {
        const raw = `{"${field}":${text}}`;
        const answer = await api().send('PATCH', path, { raw, headers: { 'content-type': 'application/json' } });
        const isLabels = field === 'labels' || field === 'annotations';
        if (refusedIn(text) || (isLabels && keysOf(JSON.parse(text)).includes(''))) {
          expect([answer.status, answer.body.errors[0].attr]).toEqual([400, expect.stringContaining(field)]);
          return;
        }
        expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
        expect(JSON.stringify(sorted((await done(api().get(path)))[field]))).toBe(JSON.stringify(sorted(JSON.parse(text))));
      }),
    );
  });

  it.each(['__proto__', 'constructor', 'prototype'])('%s is refused, wherever it stands, and named', async (name) => {
    const { workspace, block } = await makeFleet(api(), `fleet ${name}`);
    const bodies = [
      ['k8sclusters/', `{"name":"x","workspace":"${workspace.id}","labels":{"${name}":"a"}}`, `labels.${name}`],
      ['k8sclusters/', `{"name":"x","workspace":"${workspace.id}","annotations":{"${name}":"a"}}`, `annotations.${name}`],
      ['organizations/', `{"name":"x","${name}":{}}`, name],
      ['blocks/', `{"name":"x","workspace":"${workspace.id}","config":{"a":[{"${name}":1}]}}`, `config.a.0.${name}`],
    ] as const;
    for (const [path, raw, attr] of bodies) {
      const answer = await api().send('POST', path, { raw, headers: { 'content-type': 'application/json' } });
      expect([answer.status, answer.body.errors[0]]).toEqual([400, { code: 'invalid', detail: expect.stringContaining(name), attr }]);
    }
    const settings = await api().send('PATCH', 'system-config/', { raw: `{"${name}":1}`, headers: { 'content-type': 'application/json' } });
    expect([settings.status, settings.body.errors[0].attr]).toEqual([400, name]);
    expect((await done(api().get(`blocks/${block.id}/`))).config).toEqual({});
  });

  it.each([
    ['labels: {__proto__: a}', 'the key __proto__'],
    ['annotations: {constructor: a}', 'the key constructor'],
    ['blocks: [{name: b, config: {a: {prototype: 1}}}]', 'the key prototype'],
    [`blocks: [{name: b, config: ${'{a: '.repeat(40)}1${'}'.repeat(40)}}]`, 'nested too deeply'],
  ])('in a fleet file: %s', async (line, reason) => {
    const file = `apiVersion: block-rollout/v1\norganizations:\n  - name: acme\n    workspaces:\n      - name: prod\n        ${line}\n`;
    const answer = await api().send('POST', 'import/', { raw: file, headers: { 'content-type': 'application/yaml' } });
    expect([answer.status, answer.body.errors[0].detail]).toEqual([400, expect.stringContaining(reason)]);
    expect(answer.body.errors[0].detail).toContain('line 6');
  });

  it('a fleet file may name a free setting as JavaScript names its own', async () => {
    const names = Object.getOwnPropertyNames(Object.prototype).filter((name) => /^[a-z]+$/i.test(name) && !isRefusedKey(name));
    const settings = names.map((name) => `  ${name}: mine of ${name}`).join('\n');
    const file = `apiVersion: block-rollout/v1\nsystem_config:\n${settings}\n`;
    const { id } = await done(api().send('POST', 'import/', { raw: file, headers: { 'content-type': 'application/yaml' } }));
    await resumeImports(api().services.imports, () => true);
    expect((await done(api().get(`import/${id}/`))).status).toBe('completed');
    const read = await done(api().get('system-config/'));
    for (const name of names) expect(read[name]).toBe(`mine of ${name}`);
  });

  it('a value nested deeper than a row keeps is refused by its place', async () => {
    const { block } = await makeFleet(api(), 'deep');
    const nested = (levels: number): string => `{"config":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
    const patch = (raw: string) => api().send('PATCH', `blocks/${block.id}/`, { raw, headers: { 'content-type': 'application/json' } });
    expect((await patch(nested(MAX_NESTING))).status).toBe(200);
    for (const levels of [MAX_NESTING + 1, 100_000]) {
      const answer = await patch(nested(levels));
      expect([answer.status, answer.body.errors[0].attr]).toEqual([400, expect.stringMatching(/^config(\.a)+$/)]);
    }
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
