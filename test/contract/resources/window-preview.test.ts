import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../../support/api.ts';
import { done } from '../../support/api-fleet.ts';

let api: Api;
/** Wednesday; Berlin is an hour ahead until 29 March, then two. */
const NOW = '2026-03-25T17:48:00Z';
beforeAll(async () => {
  api = await startApi();
  api.clock.forward(Date.parse(NOW) - api.clock.now());
});
afterAll(() => api.stop());

const NIGHT = { time_zone: 'Europe/Berlin', time_slots: [{ start: '22:00', end: '04:00' }] };
const window = (name: string, fields: object = {}) => done(api.post('maintenance-windows/', { name, ...NIGHT, ...fields }));
const previewOf = ({ id }: { id: string }) => done(api.get(`maintenance-windows/${id}/preview/`));

describe('the preview of a window', () => {
  it('has the next ten openings, local and UTC, over a change of the clock and without the freezes', async () => {
    const freezes = [{ from: '2026-03-27', to: '2026-03-28', reason: 'release' }];
    const seen = await previewOf(await window('nights', { freezes }));
    expect(seen).toMatchObject({
      time_zone: 'Europe/Berlin',
      open_now: false,
      summary: 'opens in 3 h 12 min (22:00 Europe/Berlin)',
      frozen_until: null,
      next_opening: { at: '2026-03-25T21:00:00.000Z', local: '2026-03-25 22:00 +01:00 Europe/Berlin' },
      next_closing: { at: '2026-03-26T03:00:00.000Z' },
    });
    expect(seen.openings).toHaveLength(10);
    expect(seen.openings.slice(1, 4)).toEqual([
      {
        opens_at: '2026-03-26T21:00:00.000Z',
        opens_at_local: '2026-03-26 22:00 +01:00 Europe/Berlin',
        closes_at: '2026-03-26T23:00:00.000Z',
        closes_at_local: '2026-03-27 00:00 +01:00 Europe/Berlin',
        duration: '2 h',
      },
      {
        opens_at: '2026-03-28T23:00:00.000Z',
        opens_at_local: '2026-03-29 00:00 +01:00 Europe/Berlin',
        closes_at: '2026-03-29T02:00:00.000Z',
        closes_at_local: '2026-03-29 04:00 +02:00 Europe/Berlin',
        duration: '3 h',
      },
      expect.objectContaining({ opens_at: '2026-03-29T20:00:00.000Z', duration: '6 h' }),
    ]);
  });

  it('says when an open one closes, that one never does, and until when a freeze holds', async () => {
    const open = await previewOf(await window('day', { time_slots: [{ start: '08:00', end: '20:00' }] }));
    expect(open).toMatchObject({ open_now: true, summary: 'open, closes in 1 h 12 min (20:00 Europe/Berlin)' });
    expect(open.openings[0]).toMatchObject({ opens_at: new Date(NOW).toISOString(), duration: '1 h 12 min' });
    const always = await previewOf(await window('always', { time_slots: [{ start: '00:00', end: '24:00' }] }));
    expect(always).toMatchObject({ open_now: true, summary: 'open, does not close', next_opening: null, next_closing: null });
    expect(always.openings).toEqual([expect.objectContaining({ closes_at: null, duration: null })]);
    const freezes = [{ from: '2026-03-25', to: '2026-03-25', reason: null }];
    const frozen = await previewOf(await window('frozen', { time_slots: [{ start: '08:00', end: '20:00' }], freezes }));
    expect(frozen).toMatchObject({ open_now: false, frozen_until: { at: '2026-03-25T23:00:00.000Z' } });
    expect(frozen.summary).toBe('opens in 13 h 12 min (Thu 2026-03-26 08:00 Europe/Berlin)');
  });

  it('takes out the freezes of the system default, which count for everybody', async () => {
    const nights = await window('more nights');
    const freezes = [{ from: '2026-03-25', to: '2026-03-26', reason: null }];
    const common = await window('common', { freezes, is_system_default: true });
    expect((await previewOf(nights)).next_opening.local).toBe('2026-03-27 00:00 +01:00 Europe/Berlin');
    await done(api.send('PATCH', `maintenance-windows/${common.id}/`, { body: { is_system_default: false } }));
    expect((await previewOf(nights)).next_opening.local).toBe('2026-03-25 22:00 +01:00 Europe/Berlin');
  });
});

describe('windows in the preview of a config', () => {
  const row = (body: { results: { target: string }[] }, target: string) => body.results.find((r) => r.target === target);

  it('are those that count for each target, with its earliest start and one for each fire', async () => {
    const [own, common, day] = [
      await window('own', { time_slots: [{ start: '01:00', end: '02:00' }] }),
      await window('platform', { time_zone: 'Asia/Kolkata', time_slots: [{ start: '03:00', end: '04:00' }], is_system_default: true }),
      await window('daytime', { time_zone: 'UTC', time_slots: [{ days: ['fri'], start: '10:00', end: '12:00' }] }),
    ];
    const organization = (await done(api.post('organizations/', { name: 'acme', maintenance_window: own.id }))).id;
    const other = (await done(api.post('organizations/', { name: 'other' }))).id;
    const clusters: Record<string, string> = {};
    for (const [name, fields] of [
      ['inherits', { organization }],
      ['day', { organization, maintenance_window: day.id }],
      ['default', { organization: other }],
      ['maintained', { organization: other }],
    ] as const) {
      const workspace = (await done(api.post('workspaces/', { name, ...fields }))).id;
      clusters[name] = (await done(api.post('k8sclusters/', { name, workspace }))).id;
    }
    const start = '2026-03-25T19:00:00.000Z';
    await done(api.post('maintenances/', { k8s_clusters: [clusters['maintained']], start, end: '2026-03-25T20:00:00Z' }));
    const config = await done(
      api.post('block-rollout-configs/', {
        ...{ kind: 'trigger', trigger_type: 'schedule', block_name: 'nightly', action_name: 'backup' },
        ...{ cron_expression: '0 11 * * FRI', time_zone: 'UTC' },
      }),
    );
    const path = `block-rollout-configs/${config.id}/`;
    const seen = await done(api.get(`${path}preview/`));
    expect(seen.next_fires.slice(0, 1)).toEqual([{ at: '2026-03-27T11:00:00.000Z', local: '2026-03-27 11:00 +00:00 UTC' }]);
    expect(row(seen, 'inherits')).toMatchObject({
      window: { id: own.id, name: 'own', source: 'organization', time_zone: 'Europe/Berlin' },
      earliest_start: '2026-03-26T00:00:00.000Z',
      earliest_start_text: 'in 6 h 12 min (Thu 2026-03-26 01:00 Europe/Berlin)',
    });
    expect(row(seen, 'day')).toMatchObject({ window: { id: day.id, source: 'workspace' }, earliest_start: '2026-03-27T10:00:00.000Z' });
    expect(row(seen, 'default')).toMatchObject({
      window: { id: common.id, source: 'system_default', time_zone: 'Asia/Kolkata' },
      earliest_start: '2026-03-25T21:30:00.000Z',
    });
    expect(row(seen, 'maintained')).toMatchObject({ window: { id: common.id }, earliest_start: start });
    const starts = (target: string) => (row(seen, target) as unknown as { scheduled_starts: string[] }).scheduled_starts;
    expect(starts('day')).toEqual(seen.next_fires.map(({ at }: { at: string }) => at));
    expect(starts('inherits').slice(0, 2)).toEqual(['2026-03-28T00:00:00.000Z', '2026-04-03T23:00:00.000Z']);

    const pages: string[] = [];
    for (let page = 1; page <= 4; page++)
      pages.push(...(await done(api.get(`${path}preview/?page_size=1&page=${page}`))).results.map((r: object) => JSON.stringify(r)));
    expect(pages).toEqual(seen.results.map((r: object) => JSON.stringify(r)));

    await done(api.send('PATCH', path, { body: { maintenance_window: day.id } }));
    expect((await done(api.get(`${path}preview/`))).results.map((r: { window: object }) => r.window)).toEqual(
      Array(4).fill(expect.objectContaining({ id: day.id, source: 'config' })),
    );
    await done(api.send('PATCH', path, { body: { bypass_maintenance_window: true } }));
    const bypassed = await done(api.get(`${path}preview/`));
    expect(row(bypassed, 'inherits')).toMatchObject({
      window: null,
      earliest_start: new Date(NOW).toISOString(),
      earliest_start_text: 'now',
    });
  });

  it('count for a workspace as its maintenance-window-status says', async () => {
    const organization = (await done(api.get('organizations/?name=acme'))).results[0].id;
    const [workspace] = (await done(api.get(`workspaces/?name=inherits&organizations=${organization}`))).results;
    expect(await done(api.get(`workspaces/${workspace.id}/maintenance-window-status/`))).toEqual({
      in_maintenance_window: false,
      window_id: expect.any(String),
      window_name: 'own',
      window_display_name: null,
    });
  });
});
