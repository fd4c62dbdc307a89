import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enqueuePage } from '../../../lib/app/engine/enqueue-page.ts';
import { finishEnqueue, planPages } from '../../../lib/app/engine/enqueue-pages.ts';
import type { Block } from '../../../lib/domain/shared/fleet.ts';
import { type Api, startApi } from '../../support/api.ts';
import { done } from '../../support/api-fleet.ts';

let api: Api;
let workspace = '';
beforeAll(async () => {
  api = await startApi();
  const organization = (await done(api.post('organizations/', { name: 'acme' }))).id;
  workspace = (await done(api.post('workspaces/', { name: 'prod', organization }))).id;
});
afterAll(() => api.stop());

const BLOCK = 'ayedo/k8s/cert-manager';
const configs = 'block-rollout-configs/';

/** A cluster with the block in a given state; null = no record of it. */
async function cluster(name: string, block: Partial<Block> | null, labels = {}): Promise<void> {
  const { id } = await done(api.post('k8sclusters/', { name, workspace, labels }));
  if (block === null) return;
  const made = await done(api.post('blocks/', { name: BLOCK, workspace, k8s_cluster: id }));
  const { objects } = api.services.resources;
  const before = await objects.get('block', made.id, true);
  if (before !== null) await objects.replace('block', before, { ...before, ...block });
}

interface Row {
  readonly target: string;
  readonly action: string;
  readonly reason: string | null;
  readonly block: string | null;
  readonly target_version: string | null;
}
const preview = async (id: string, query = 'page_size=200') => done(api.get(`${configs}${id}/preview/?${query}`));
const plain = (rows: readonly Row[]) => Object.fromEntries(rows.map((row) => [row.target, [row.action, row.reason]]));

/** Everything that was started by now, done as the workflow does it. */
async function enqueueAll(): Promise<void> {
  const { engine } = api.services;
  for (const text of api.started.splice(0)) {
    if (!text.startsWith('enqueue ')) continue;
    const ref = { enqueue_run: text.slice(8), execution: 'test' };
    for (const page of (await planPages(engine, ref)).pages) await enqueuePage(engine, { ...ref, page });
    await finishEnqueue(engine, ref);
  }
}

describe('the preview of a config', () => {
  it('says for each target what the enqueue run then does, and the same number', async () => {
    await cluster('absent', null);
    await cluster('empty', {});
    await cluster('old', { installed_version: '1.15.0' });
    await cluster('same', { installed_version: '1.16.0' });
    await cluster('newer', { installed_version: '2.0.0' });
    await cluster('by-hand', { installed_version: '1.0.0', auto_rollout: false });
    await cluster('cli', { installed_version: '1.0.0', created_by_component: 'cli' });
    await cluster('nameless', { installed_version: '1.0.0' }, { broken: 'yes' });
    const template = '{% if cluster.labels.broken is defined %}{{ cluster.labels.no_such_name }}{% endif %}1.16.0';
    const config = await done(
      api.post(configs, { kind: 'trigger', trigger_type: 'reconciliation', block_name: BLOCK, target_version: template, active: false }),
    );
    const seen = await preview(config.id);
    expect(plain(seen.results)).toEqual({
      absent: ['install', 'first_install'],
      empty: ['install', 'first_install'],
      old: ['upgrade', 'version'],
      same: ['none', 'up_to_date'],
      newer: ['skip', 'installed_is_newer'],
      'by-hand': ['none', 'auto_rollout_off'],
      cli: ['skip', 'cli_managed'],
      nameless: ['skip', expect.stringMatching(/^template_error: .*no_such_name/)],
    });
    expect(seen).toMatchObject({ targets_in_scope: 8, count: 8, actions: { install: 2, upgrade: 1, none: 2, skip: 3 } });
    expect(seen.results.find((row: Row) => row.target === 'absent')).toMatchObject({ block: null, target_version: '1.16.0' });
    expect((await done(api.get(`block-rollouts/?rollout_config=${config.id}`))).count).toBe(0);

    const written = await done(api.send('PATCH', `${configs}${config.id}/`, { body: { active: true, expected_targets: 8 } }));
    expect(written.targets_in_scope).toBe(8);
    await enqueueAll();
    const items: { k8s_cluster: string; status: string; reason: string | null }[] = (
      await done(api.get('block-rollout-items/?page_size=200'))
    ).results;
    const names = new Map<string, string>(
      (await done(api.get('k8sclusters/?page_size=200'))).results.map((c: { id: string; name: string }) => [c.id, c.name]),
    );
    const became = (status: string) => items.flatMap((i) => (i.status === status ? [names.get(i.k8s_cluster)] : [])).sort();
    expect(became('pending')).toEqual(['absent', 'empty', 'old']);
    expect(became('skipped')).toEqual(['cli', 'newer']);
    expect(became('failed')).toEqual(['nameless']);

    const after = plain((await preview(config.id)).results);
    expect(after).toMatchObject({
      absent: ['none', 'already_active'],
      newer: ['none', 'remembered'],
      cli: ['none', 'remembered'],
      nameless: ['none', 'remembered'],
    });
    await done(api.send('PATCH', `${configs}${config.id}/`, { body: { target_version: '1.17.0' } }));
    expect(plain((await preview(config.id)).results)).toMatchObject({
      absent: ['install', 'first_install'],
      old: ['upgrade', 'version'],
      same: ['upgrade', 'version'],
      nameless: ['upgrade', 'version'],
    });
  });

  it('of a template that fails leaves blocks alone that nobody may touch', async () => {
    const config = await done(
      api.post(configs, {
        kind: 'trigger',
        trigger_type: 'reconciliation',
        block_name: BLOCK,
        target_version: '{{ cluster.labels.no_such_name }}',
        active: false,
      }),
    );
    expect(plain((await preview(config.id)).results)['by-hand']).toEqual(['none', 'auto_rollout_off']);
  });

  it('is paged: every target once, totals on each page', async () => {
    const [config] = (await done(api.get(`${configs}?active=true`))).results.filter(
      (c: { block_name: string | null }) => c.block_name === BLOCK,
    );
    const seen: string[] = [];
    let query = 'page_size=3';
    for (;;) {
      const page = await preview(config.id, query);
      expect(page).toMatchObject({ count: 8, targets_in_scope: 8 });
      seen.push(...page.results.map((row: Row) => row.target));
      if (page.next === null) break;
      query = new URL(page.next).search.slice(1);
    }
    expect([seen.length, new Set(seen).size]).toEqual([8, 8]);
    expect((await preview(config.id, 'page_size=3&page=3')).results.map((row: Row) => row.target)).toEqual(seen.slice(6));
    expect((await api.get(`${configs}${config.id}/preview/?cursor=nonsense`)).status).toBe(400);
  });

  it('of the operator without a version asks for nothing', async () => {
    const [operator] = (await done(api.get(`${configs}?name=operator`))).results;
    const { actions, results } = await preview(operator.id);
    expect(actions).toEqual({ none: 8 });
    expect(results[0].reason).toBe('OPERATOR_BLOCK_VERSION is not set');
  });

  it('of defaults has no targets', async () => {
    const [system] = (await done(api.get(`${configs}?kind=config`))).results;
    expect(await preview(system.id)).toMatchObject({ targets_in_scope: 0, count: 0, results: [], actions: {}, next_fires: [] });
  });

  it('of a schedule takes every target that is out of date, and lists its next fires', async () => {
    const cron = { cron_expression: '0 3 * * 1', time_zone: 'Europe/Berlin', target_version: null };
    const config = await done(
      api.post(configs, { kind: 'trigger', trigger_type: 'schedule', block_name: 'nightly', action_name: 'backup', ...cron }),
    );
    const seen = await preview(config.id);
    expect(seen.actions).toEqual({ run: 8 });
    expect(seen.next_fires).toHaveLength(10);
  });
});
