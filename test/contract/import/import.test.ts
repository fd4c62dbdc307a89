import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemConfigId } from '../../../lib/app/engine/configs.ts';
import { AppError } from '../../../lib/app/errors.ts';
import { continueImport, resumeImports } from '../../../lib/app/import/advance.ts';
import type { ImportRow } from '../../../lib/app/import/ports.ts';
import { getImport, startImport } from '../../../lib/app/import/start.ts';
import { newManaged } from '../../../lib/app/managed.ts';
import { exampleFleet } from '../../../scripts/example-fleet.ts';
import { Crash, FakeImports } from '../../support/fake-imports.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const EXAMPLE = readFileSync('examples/fleet.yaml', 'utf8');

async function run(table: FakeImports, text: string, prune = false): Promise<ImportRow> {
  const { id } = await startImport(table.services(), { body: bytes(text), actor: 'test', prune });
  return continueImport(table.services(), id);
}

const count = (row: ImportRow, outcome: 'created' | 'updated' | 'unchanged' | 'archived') =>
  Object.fromEntries(
    Object.entries(row.counts)
      .map(([kind, counts]) => [kind, counts[outcome]] as const)
      .filter(([, n]) => n > 0),
  );

const fleet = (organizations: string, rest = '') => `apiVersion: block-rollout/v1\n${rest}organizations:\n${organizations}`;
const ACME = `  - name: acme
    criticality: high
    labels: {tier: gold}
    workspaces:
      - name: prod
        clusters:
          - name: fra-1
            labels: {region: fra}
            apps: [{name: polycrate-operator, installed_version: 0.33.1}]
            blocks: [{name: cert-manager, version: 1.15.0, installed_version: 1.14.0, config: {replicas: 1}}]
          - name: fra-2
`;

describe('import of a fleet file', () => {
  it('creates everything, counts it, and owes one demand for the whole fleet when the settings changed', async () => {
    const table = new FakeImports();
    const row = await run(table, EXAMPLE);
    expect(row.status).toBe('completed');
    expect(count(row, 'created')).toEqual({
      organization: 6,
      workspace: 8,
      k8s_cluster: 30,
      k8s_app: 29,
      block: 1,
      block_rollout_config: 1,
    });
    expect(count(row, 'updated')).toEqual({ system_config: 1 });
    expect([row.done, row.total]).toEqual([76, 76]);
    expect(table.settings).toMatchObject({
      OPERATOR_BLOCK_VERSION: '0.34.0',
      OPERATOR_ROLLOUT_PERCENTAGE: 20,
      AGENT_REPORT_INTERVAL_SECONDS: 2,
    });
    expect(table.demands).toMatchObject([{ kind: 'import', rollout_config: null, clusters: [], workspaces: [], organizations: [] }]);
  });

  it('changes nothing the second time, and owes no demand', async () => {
    const table = new FakeImports();
    await run(table, EXAMPLE);
    const before = JSON.stringify(table.contents());
    const row = await run(table, EXAMPLE);
    expect(count(row, 'unchanged')).toEqual({
      organization: 6,
      workspace: 8,
      k8s_cluster: 30,
      k8s_app: 29,
      block: 1,
      block_rollout_config: 1,
      system_config: 1,
    });
    expect(count(row, 'created')).toEqual({});
    expect(JSON.stringify(table.contents())).toBe(before);
    expect(table.demands).toHaveLength(1);
  });

  it('is done at once when it is small, and brought on by whoever asks when it is large', async () => {
    const table = new FakeImports();
    const start = (text: string) => startImport(table.services(), { body: bytes(text), actor: 'test', prune: false });
    expect(await start(EXAMPLE)).toMatchObject({ status: 'completed', done: 76 });
    let state = await start(exampleFleet({ clusters: 600, seed: 1, percentage: 20, target: '0.34.0', instant: true }));
    for (let asked = 0; state.status === 'running'; asked += 1) {
      expect(asked).toBeLessThan(20);
      const { done } = state;
      state = await getImport(table.services(), state.id);
      expect(state.status === 'completed' || state.done > done).toBe(true);
    }
    expect(state.done).toBe(state.total);
  });

  it('accepts JSON, and a gzipped body', async () => {
    const table = new FakeImports();
    const json = JSON.stringify({ apiVersion: 'block-rollout/v1', organizations: [{ name: 'acme' }] });
    const { id } = await startImport(table.services(), { body: gzipSync(json), actor: 'test', prune: false });
    await continueImport(table.services(), id);
    expect(table.find('organization', 'acme').criticality).toBeNull();
  });

  it('writes only the fields that differ from the last import; what people changed since stays', async () => {
    const table = new FakeImports();
    await run(table, fleet(ACME));
    table.edit('organization', 'acme', { criticality: 'low', contacts: ['me@acme.example'], labels: { tier: 'gold', own: 'mine' } });
    table.edit('block', 'cert-manager', { block_version: '1.16.0', installed_version: '1.15.0' });
    const changed = ACME.replace('tier: gold', 'tier: silver').replace('replicas: 1', 'replicas: 2').replace('1.14.0', '9.9.9');
    const row = await run(table, fleet(changed));
    expect(count(row, 'updated')).toEqual({ organization: 1, block: 1 });
    expect(table.find('organization', 'acme')).toMatchObject({
      criticality: 'low',
      contacts: ['me@acme.example'],
      labels: { tier: 'silver', own: 'mine' },
    });
    expect(table.find('block', 'cert-manager')).toMatchObject({
      block_version: '1.16.0',
      installed_version: '1.15.0',
      config: { replicas: 2 },
    });
  });

  it('names only what it changed in the demand', async () => {
    const table = new FakeImports();
    await run(table, fleet(ACME));
    await run(table, fleet(ACME.replace('region: fra', 'region: ams')));
    expect(table.demands.at(-1)).toMatchObject({ clusters: [table.find('k8s_cluster', 'fra-1').id], workspaces: [], organizations: [] });
  });

  it('tells the engine what it changed, and says nothing about what it made', async () => {
    const table = new FakeImports();
    await run(table, fleet(ACME));
    expect(table.changes).toEqual([]);
    const changed = ACME.replace('criticality: high', 'criticality: low').replace('name: fra-2', 'name: fra-2\n            active: false');
    await run(table, fleet(changed, 'system_config: {OPERATOR_ROLLOUT_PERCENTAGE: 5}\n'));
    expect(table.changes).toEqual(['organization criticality', 'k8s_cluster active', 'settings OPERATOR_ROLLOUT_PERCENTAGE']);
  });

  it('changes a seeded config by the name that people see', async () => {
    const table = new FakeImports();
    const { ids, configs } = table.services();
    const seeded = {
      ...newManaged({ id: systemConfigId(ids), name: 'defaults', now: 0 }),
      version: 1,
      ...configs.build(null, { max_retries: 2, retry_base_seconds: 60 }),
      is_system_config: true,
    };
    table.objects.set(seeded.id, { type: 'block_rollout_config', value: seeded });
    const row = await run(table, 'apiVersion: block-rollout/v1\nrollout_configs: [{name: defaults, retry_base_seconds: 5}]\n');
    expect(count(row, 'updated')).toEqual({ block_rollout_config: 1 });
    expect(table.find('block_rollout_config', 'defaults')).toMatchObject({ max_retries: 2, retry_base_seconds: 5 });
    await run(table, 'apiVersion: block-rollout/v1\nrollout_configs: [{name: defaults, max_retries: 0}]\n');
    expect(table.find('block_rollout_config', 'defaults')).toMatchObject({ max_retries: 0, retry_base_seconds: 60 });
  });

  it('takes back what the file gave when the file no longer says it', async () => {
    const table = new FakeImports();
    await run(table, fleet(ACME));
    await run(table, fleet(ACME.replace('    criticality: high\n    labels: {tier: gold}\n', '')));
    expect(table.find('organization', 'acme')).toMatchObject({ criticality: null, labels: {} });
  });

  it('gives an organization its window, and leaves a window alone that people chose since', async () => {
    const table = new FakeImports();
    const text = fleet(
      `  - name: acme\n    maintenance_window: {time_zone: Europe/Berlin, time_slots: [{days: [mon], start: "22:00", end: "04:00"}]}\n`,
    );
    await run(table, text);
    expect(table.windowOf(table.find('organization', 'acme'))).toMatchObject({
      time_zone: 'Europe/Berlin',
      time_slots: [{ days: ['mon'], start: '22:00', end: '04:00' }],
      freezes: [],
    });
    table.edit('organization', 'acme', { maintenance_window: null });
    await run(table, text);
    expect(table.find('organization', 'acme').maintenance_window).toBeNull();
  });

  it('keeps what people changed in a window of the file, until the file says something else; then its owner counts as updated', async () => {
    const table = new FakeImports();
    const text = (start: string) =>
      fleet(`  - name: acme\n    maintenance_window: {time_zone: UTC, time_slots: [{start: "${start}", end: "04:00"}]}\n`);
    await run(table, text('22:00'));
    const window = () => table.windowOf(table.find('organization', 'acme'));
    table.edit('maintenance_window', 'acme', { time_zone: 'Asia/Tokyo', archived: true, note: 'asked for by the customer' });
    const again = await run(table, text('22:00'));
    expect([count(again, 'updated'), count(again, 'unchanged')]).toEqual([{}, { organization: 1 }]);
    expect(window()).toMatchObject({ time_zone: 'Asia/Tokyo', archived: true });
    table.changes.length = 0;
    const changed = await run(table, text('23:00'));
    expect(count(changed, 'updated')).toEqual({ organization: 1 });
    expect(window()).toMatchObject({ time_zone: 'UTC', archived: false, note: 'asked for by the customer', version: 3 });
    expect(window()?.time_slots).toEqual([{ start: '23:00', end: '04:00' }]);
    // Waves that wait for it are told.
    expect(table.changes).toEqual([expect.stringMatching(/^maintenance_window .*time_slots/)]);
    expect([...table.objects.values()].filter(({ type }) => type === 'maintenance_window')).toHaveLength(1);
  });

  it('keeps what the file no longer has, unless it is asked to prune', async () => {
    const table = new FakeImports();
    await run(table, fleet(ACME));
    table.objects.set('by-hand', {
      type: 'organization',
      value: { ...table.find('organization', 'acme'), id: 'by-hand', name: 'by hand' },
    });
    const smaller = fleet('  - name: acme\n    workspaces: [{name: prod, clusters: [{name: fra-1, labels: {region: fra}}]}]\n');
    await run(table, smaller);
    expect(table.archived).toEqual([]);
    const row = await run(table, smaller, true);
    expect(table.archived.sort()).toEqual(['block cert-manager', 'k8s_app polycrate-operator', 'k8s_cluster fra-2']);
    expect(count(row, 'archived')).toEqual({ block: 1, k8s_app: 1, k8s_cluster: 1 });
    await run(table, fleet(ACME));
    expect(table.find('k8s_cluster', 'fra-2').archived).toBe(false);
  });

  it('leaves archived what a person archived', async () => {
    const table = new FakeImports();
    await run(table, fleet(ACME));
    table.edit('k8s_cluster', 'fra-1', { archived: true });
    await run(table, fleet(ACME.replace('region: fra', 'region: ams')));
    expect(table.find('k8s_cluster', 'fra-1')).toMatchObject({ archived: true, labels: { region: 'ams' } });
  });

  it('refuses a file with a mistake and writes nothing', async () => {
    const table = new FakeImports();
    const bad = startImport(table.services(), { body: bytes(fleet('  - nam: acme\n')), actor: 'test', prune: false });
    await expect(bad).rejects.toMatchObject({
      kind: 'invalid',
      problems: [
        { attr: 'organizations[0].nam', detail: expect.stringContaining('line 3, column 5: is not a field of an organization') },
        { attr: 'organizations[0].name', detail: expect.stringContaining('line 3, column 5: is missing') },
      ],
    });
    expect(table.writes).toBe(0);
  });

  it('refuses damaged gzip, other encodings and too large files by name', async () => {
    const table = new FakeImports();
    const refuse = async (body: Uint8Array) => {
      const error: unknown = await startImport(table.services(), { body, actor: 'test', prune: false }).catch((e: unknown) => e);
      return error instanceof AppError ? [error.kind, error.message] : error;
    };
    expect(await refuse(Uint8Array.of(0x1f, 0x8b, 1, 2, 3))).toEqual(['invalid', expect.stringContaining('gzip')]);
    expect(await refuse(Uint8Array.of(0xff, 0xfe, 0x61))).toEqual(['invalid', expect.stringContaining('UTF-8')]);
    expect(await refuse(gzipSync(new Uint8Array(21 * 1024 * 1024)))).toEqual(['too_large', expect.stringContaining('20 MB')]);
  });

  it('refuses a config whose scope names what nobody has, and takes one that names what the fleet has', async () => {
    const table = new FakeImports();
    await run(table, fleet(ACME));
    const config = (scope: string) =>
      `apiVersion: block-rollout/v1\nrollout_configs:\n  - {name: certs, kind: trigger, trigger_type: reconciliation, block_name: cert-manager, ${scope}}\n`;
    await expect(run(table, config('target_organizations: [acmee]'))).rejects.toThrow('there is no organization "acmee"');
    const row = await run(table, config('target_organizations: [acme], target_workspaces: [acme/prod], max_retries: 1'));
    expect(count(row, 'created')).toEqual({ block_rollout_config: 1 });
    expect(table.find('block_rollout_config', 'certs')).toMatchObject({
      target_organizations: [table.find('organization', 'acme').id],
      target_workspaces: [table.find('workspace', 'prod').id],
      max_retries: 1,
      template_revision: 1,
    });
    await run(table, config('target_organizations: [acme], target_version: "1.16.0"'));
    expect(table.find('block_rollout_config', 'certs')).toMatchObject({ max_retries: null, target_workspaces: [], template_revision: 2 });
  });

  it('imports a workspace with more blocks than a page and a transaction hold', async () => {
    const table = new FakeImports();
    const blocks = Array.from({ length: 500 }, (_, n) => `{name: block-${n}, version: 1.0.${n}}`).join(', ');
    const text = fleet(`  - name: acme\n    workspaces: [{name: prod, blocks: [${blocks}]}]\n`);
    expect(count(await run(table, text), 'created')).toEqual({ organization: 1, workspace: 1, block: 500 });
    expect(count(await run(table, text, true), 'unchanged')).toEqual({ organization: 1, workspace: 1, block: 500 });
    expect(table.archived).toEqual([]);
    const shorter = fleet(`  - name: acme\n    workspaces: [{name: prod, blocks: [{name: block-499, version: 1.0.499}]}]\n`);
    expect(count(await run(table, shorter, true), 'archived')).toEqual({ block: 499 });
  });
});

describe('a crash in an import', () => {
  const text = exampleFleet({ clusters: 140, seed: 3, percentage: 20, target: '0.34.0', instant: false });

  it.each([
    ['before', false],
    ['after', true],
  ])('%s any one write: it goes on, ends the same and counts the same', async (_when, lost) => {
    const whole = new FakeImports();
    const expected = await run(whole, text);
    const contents = JSON.stringify(whole.contents());
    for (let write = 3; write <= whole.writes; write += 1) {
      const table = new FakeImports();
      table.crashAt = { write, lost };
      const { id } = await startImport(table.services(), { body: bytes(text), actor: 'test', prune: false });
      if (table.writes < write) await expect(continueImport(table.services(), id)).rejects.toThrow(Crash);
      table.crashAt = null;
      table.now += 60_000;
      await resumeImports(table.services(), () => true);
      const row = await getImport(table.services(), id);
      expect([write, row.status, row.counts, row.done]).toEqual([write, 'completed', expected.counts, expected.done]);
      expect(JSON.stringify(table.contents())).toBe(contents);
      expect(table.demands).toHaveLength(1);
    }
  });

  it('two drivers at once do the work once', async () => {
    const table = new FakeImports();
    const { id } = await startImport(table.services(), { body: bytes(text), actor: 'test', prune: false });
    await Promise.all([continueImport(table.services(), id), continueImport(table.services(), id)]);
    const whole = new FakeImports();
    expect((await getImport(table.services(), id)).counts).toEqual((await run(whole, text)).counts);
    expect(JSON.stringify(table.contents())).toBe(JSON.stringify(whole.contents()));
    expect(table.demands).toHaveLength(1);
  });
});
