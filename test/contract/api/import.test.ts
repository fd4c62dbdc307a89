import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { continueImport } from '../../../lib/app/import/advance.ts';
import { type Answered, type Api, startApi } from '../../support/api.ts';
import { done } from '../../support/api-fleet.ts';

/** SPEC §13 through HTTP: a fleet file in, its progress out, and what is said when it is wrong. */

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const send = (raw: string | Uint8Array, headers: Record<string, string> = {}, query = ''): Promise<Answered> =>
  api.send('POST', `import/${query}`, { raw, headers: { 'content-type': 'application/yaml', ...headers } });
const fleet = (name: string) => `
apiVersion: block-rollout/v1
organizations:
  - name: ${name}
    workspaces:
      - name: prod
        clusters:
          - name: fra-1
            apps: [{name: polycrate-operator, installed_version: 0.33.1}]
`;

async function finished(answer: Answered) {
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([202, expect.anything()]);
  await continueImport(api.services.imports, answer.body.id);
  return done(api.get(`import/${answer.body.id}/`));
}

describe('a fleet file', () => {
  test('is 202 with the address of its progress, where all of it is counted in the end', async () => {
    const answer = await send(fleet('acme'));
    expect(answer.body).toMatchObject({ total: 4, url: `/api/v1/import/${answer.body.id}/` });
    const end = await finished(answer);
    expect(end).toMatchObject({
      status: 'completed',
      total: 4,
      done: 4,
      counts: { k8s_cluster: { created: 1, updated: 0, unchanged: 0 } },
    });
    expect((await done(api.get('k8sapps/?name=polycrate-operator'))).results).toMatchObject([{ installed_version: '0.33.1' }]);
  });

  test('again changes nothing', async () => {
    const end = await finished(await send(fleet('acme')));
    for (const kind of ['organization', 'workspace', 'k8s_cluster', 'k8s_app'])
      expect(end.counts[kind]).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  });

  test('may be JSON, and may be packed', async () => {
    const json = JSON.stringify({ apiVersion: 'block-rollout/v1', organizations: [{ name: 'packed' }] });
    expect(
      (await finished(await send(gzipSync(json), { 'content-type': 'application/json', 'content-encoding': 'gzip' }))).counts.organization
        .created,
    ).toBe(1);
    expect((await finished(await send(gzipSync(json), { 'content-type': 'application/gzip' }))).counts.organization.unchanged).toBe(1);
  });

  test('with ?prune=true archives what it no longer has', async () => {
    await finished(await send(fleet('pruned')));
    await finished(await send(fleet('acme'), {}, '?prune=true'));
    expect((await done(api.get('organizations/?name=pruned'))).count).toBe(0);
    expect((await done(api.get('organizations/?name=pruned&archived=true'))).count).toBe(1);
  });
});

describe('a wrong file writes nothing and names each mistake', () => {
  test.each([
    ['not YAML', 'organizations: [', /line/],
    ['an empty file', '', /./],
    ['another version', 'apiVersion: block-rollout/v2\norganizations: []\n', /apiVersion|v1/],
    ['an unknown field', fleet('wrong').replace('name: prod', 'nam: prod'), /nam/],
    ['a percentage as a text', `${fleet('wrong')}system_config: {OPERATOR_ROLLOUT_PERCENTAGE: "10%"}\n`, /whole number/],
    ['a percentage out of range', `${fleet('wrong')}system_config: {OPERATOR_ROLLOUT_PERCENTAGE: 101}\n`, /100/],
    ['one name twice', `${fleet('wrong')}  - name: wrong\n`, /wrong/],
    ['two documents', `${fleet('wrong')}---\na: 1\n`, /document/],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80]), /UTF-8|text/],
    ['damaged gzip', Buffer.from([0x1f, 0x8b, 1, 2, 3]), /gzip/],
  ])('%s', async (_, file, words) => {
    const answer = await send(file);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringMatching(words)]);
    expect(answer.body.type).toBe('validation_error');
    expect((await done(api.get('organizations/?name=wrong'))).count).toBe(0);
  });

  test('every mistake is named, with line, path and reason', async () => {
    const answer = await send(fleet('wrong').replace('name: prod', 'nam: prod').replace('0.33.1', '[]'));
    expect(answer.body.errors.length).toBeGreaterThanOrEqual(2);
    for (const { attr, detail } of answer.body.errors) {
      expect(attr).toMatch(/organizations/);
      expect(detail).toMatch(/^line \d+/);
    }
  });

  test('more than 4 MB as sent, or 20 MB unpacked, is 413', async () => {
    expect((await send(`# ${'x'.repeat(4 * 1024 * 1024)}`)).status).toBe(413);
    expect((await send(gzipSync(`# ${'x'.repeat(20 * 1024 * 1024)}`))).status).toBe(413);
  });
});

describe('what describes the service', () => {
  test('whoami tells each key what it is', async () => {
    expect(await done(api.get('whoami/'))).toMatchObject({ name: 'admin', role: 'platform_admin', access: 'read_write' });
  });

  test('label-keys lists the label that decides who manages a block', async () => {
    expect((await done(api.get('label-keys/'))).label_keys).toContain('polycrate_managed_by');
  });

  test('schema is the OpenAPI document, health a word', async () => {
    expect(await done(api.get('schema/'))).toMatchObject({ openapi: '3.1.0' });
    expect(await done(api.get('health/'))).toEqual({ status: 'ok' });
  });
});

test('B43 templates that cannot be rendered are named with line and path, and nothing is written', async () => {
  const answer = await send(`apiVersion: block-rollout/v1
system_config: {CHANNEL: stable}
rollout_configs:
  - {name: fine, kind: trigger, block_name: a, trigger_type: reconciliation, target_version: '{{ system_config.CHANNEL }}-{{ cluster.labels.size }}'}
  - name: wrong
    kind: trigger
    block_name: b
    trigger_type: reconciliation
    target_version: '{{ system_config.CHANEL }}'
    block_config_template: |
      a: 1
      b: {{ clustr.name }}
organizations: [{name: nobody}]
`);
  expect(answer.status).toBe(400);
  expect(answer.body.errors).toEqual([
    {
      code: 'invalid',
      attr: 'rollout_configs[1].target_version',
      detail: expect.stringMatching(/^line 9, column \d+: the template cannot be rendered: line 1: system_config.CHANEL is not defined/),
    },
    {
      code: 'invalid',
      attr: 'rollout_configs[1].block_config_template',
      detail: expect.stringMatching(/^line 10, column \d+: the template cannot be rendered: line 2: clustr is not defined/),
    },
  ]);
  expect((await api.get('organizations/?name=nobody')).body.count).toBe(0);
});
