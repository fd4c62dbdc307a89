import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, type Api, startApi } from '../../support/api.ts';
import { done } from '../../support/api-fleet.ts';

let api: Api;
let acme: string;
let other: string;
beforeAll(async () => {
  api = await startApi();
  acme = (await done(api.post('organizations/', { name: 'acme' }))).id;
  other = (await done(api.post('organizations/', { name: 'other' }))).id;
});
afterAll(() => api.stop());

const path = 'maintenance-windows/';
const NIGHT = { time_zone: 'Europe/Berlin', time_slots: [{ days: ['mon'], start: '22:00', end: '04:00' }] };
let serial = 0;
const fresh = (fields: object = {}) => ({ name: `window ${++serial}`, ...NIGHT, ...fields });
const make = async (fields: object = {}) => done(api.post(path, fresh(fields)));
const patch = (id: string, body: object) => api.send('PATCH', `${path}${id}/`, { body });
const errors = (answer: Answered) => [answer.status, answer.body.errors.map((e: { attr: string }) => e.attr)];

describe('a maintenance window', () => {
  it('is kept with all its fields, in the order of the week', async () => {
    const fields = { description: 'nightly', note: 'ask ops', lead_time_days: 3, notice_required: true, organization: acme };
    const slots = [
      { days: ['fri', 'mon'], start: '22:00', end: '04:00' },
      { start: '12:00', end: '24:00' },
    ];
    const freezes = [{ from: '2026-12-20', to: '2027-01-02', reason: 'year end' }];
    const made = await make({ ...fields, time_slots: slots, freezes });
    const stored = await done(api.get(`${path}${made.id}/`));
    expect(stored).toMatchObject({ ...fields, organization: { id: acme }, workspace: null, is_system_default: false, freezes });
    expect(stored.time_slots).toEqual([{ days: ['mon', 'fri'], start: '22:00', end: '04:00' }, slots[1]]);
    // The public SDK sends whole objects back.
    const put = await api.send('PUT', `${path}${made.id}/`, { body: { ...stored, note: null } });
    expect([put.status, put.body.note, put.body.time_slots]).toEqual([200, null, stored.time_slots]);
    expect((await done(api.get(`${path}?organizations=${acme}`))).results.map((w: { id: string }) => w.id)).toEqual([made.id]);
  });

  it('has a name of its own in its organization', async () => {
    const made = await make({ name: 'nights' });
    const again = await api.post(path, fresh({ name: 'nights' }));
    expect([again.status, again.body.conflict.id]).toEqual([409, made.id]);
    expect((await api.post(path, fresh({ name: 'nights', organization: acme }))).status).toBe(201);
    expect(errors(await patch(made.id, { name: 'days' }))).toEqual([400, ['name']]);
  });

  it.each([
    [{ time_zone: 'Europe/Berln' }, ['time_zone']],
    [{ time_zone: 7 }, ['time_zone']],
    [{ time_slots: [] }, ['time_slots']],
    [{ time_slots: null }, ['time_slots']],
    [{ time_slots: [{ start: '22:00', end: '22:00' }] }, ['time_slots.0.end']],
    [{ time_slots: [{ days: [], start: '22:00', end: '04:00' }] }, ['time_slots.0.days']],
    [
      {
        time_slots: [
          { start: '1:00', end: '25:00' },
          { days: ['moon'], start: '01:00', end: '02:00', zone: 'UTC' },
        ],
      },
      ['time_slots.0.start', 'time_slots.0.end', 'time_slots.1.zone', 'time_slots.1.days.0'],
    ],
    [{ freezes: [{ from: '2026-02-30', to: '2026-03-01' }] }, ['freezes.0.from']],
    [{ freezes: [{ from: '2026-03-02', to: '2026-03-01' }] }, ['freezes.0.to']],
    [{ freezes: [{ from: '2026-03-01T10:00', to: '2026-03-01T12:00:00Z' }] }, ['freezes.0.from']],
    [{ lead_time_days: -1 }, ['lead_time_days']],
    [{ organization: '018f3b1e-7c00-7abc-8def-0123456789ab' }, ['organization']],
  ])('with %j is refused, every mistake by its field', async (wrong, attrs) => {
    const body = fresh(wrong);
    expect(errors(await api.post(path, body))).toEqual([400, attrs]);
    expect((await done(api.get(`${path}?name=${encodeURIComponent(body.name)}`))).count).toBe(0);
    if ('organization' in wrong) return;
    const made = await make();
    expect(errors(await patch(made.id, wrong))).toEqual([400, attrs]);
    expect(await done(api.get(`${path}${made.id}/`))).toEqual(made);
  });

  it.each([
    [{ time_zone: undefined }, ['time_zone', 'required']],
    [{ time_zone: null }, ['time_zone', 'null']],
    [{ time_zone: 7 }, ['time_zone', 'invalid']],
    [{ time_slots: undefined }, ['time_slots', 'required']],
    [{ time_slots: null }, ['time_slots', 'null']],
    [{ time_slots: [null] }, ['time_slots.0', 'null']],
    [{ time_slots: [{ start: '22:00' }] }, ['time_slots.0.end', 'required']],
    [{ time_slots: [{ start: null, end: '22:00' }] }, ['time_slots.0.start', 'null']],
    [{ freezes: [{ from: '2026-12-20' }] }, ['freezes.0.to', 'required']],
    [{ freezes: [{ from: null, to: '2026-12-20' }] }, ['freezes.0.from', 'null']],
  ])('with %j says by its code whether a field is missing, null or wrong', async (wrong, expected) => {
    const { status, body } = await api.post(path, fresh(wrong));
    expect([status, body.errors.map((e: { attr: string; code: string }) => [e.attr, e.code])]).toEqual([400, [expected]]);
  });

  it('ends its sentences once', async () => {
    const details = async (wrong: object) => (await api.post(path, fresh(wrong))).body.errors[0].detail;
    expect(await details({ time_zone: 'europe/berlin' })).toMatch(/did you mean Europe\/Berlin\?$/);
    expect(await details({ time_zone: 'Europe/Berln' })).toMatch(/[^.]\.$/);
  });

  it('may be named by its organization and the workspaces in it, by everybody when it is the platform’s, and not when archived', async () => {
    const [own, common, gone] = [await make({ organization: acme }), await make(), await make()];
    await done(api.send('DELETE', `${path}${gone.id}/`)).catch(() => undefined);
    const name = (at: string, id: string) => api.send('PATCH', `organizations/${at}/`, { body: { maintenance_window: id } });
    expect((await name(acme, own.id)).status).toBe(200);
    expect(errors(await name(other, own.id))).toEqual([400, ['maintenance_window']]);
    expect((await name(other, common.id)).status).toBe(200);
    expect(errors(await name(other, gone.id))).toEqual([400, ['maintenance_window']]);
    const workspace = { name: 'prod', organization: other };
    expect(errors(await api.post('workspaces/', { ...workspace, maintenance_window: own.id }))).toEqual([400, ['maintenance_window']]);
    expect((await api.post('workspaces/', { ...workspace, maintenance_window: common.id })).status).toBe(201);
  });
});

describe('a window that is used', () => {
  const uses: Record<string, (id: string) => Promise<Answered>> = {
    organization: (id) => api.post('organizations/', { name: `uses ${id}`, maintenance_window: id }),
    workspace: (id) => api.post('workspaces/', { name: `uses ${id}`, organization: acme, maintenance_window: id }),
    'rollout config': (id) =>
      api.post('block-rollout-configs/', { kind: 'trigger', trigger_type: 'reconciliation', block_name: id, maintenance_window: id }),
    'system default': (id) => patch(id, { is_system_default: true }),
  };
  it.each(Object.keys(uses))('by the %s is archived only by force', async (who) => {
    const window = await make();
    const user = await done(uses[who]?.(window.id) ?? Promise.reject(who));
    for (const refused of [
      await api.send('DELETE', `${path}${window.id}/`),
      await api.post(`${path}${window.id}/archive/`, { archive_reason: 'old' }),
    ]) {
      expect([refused.status, refused.body.errors[0].detail]).toEqual([409, expect.stringContaining(`used in 1 place, e.g.`)]);
      expect(refused.body.errors[0].detail).toContain(who);
    }
    expect((await done(api.get(`${path}${window.id}/`))).archived).toBe(false);
    if (who === 'organization') {
      await done(api.send('PATCH', `organizations/${user.id}/`, { body: { maintenance_window: null } }));
      expect((await api.send('DELETE', `${path}${window.id}/`)).status).toBe(204);
    } else expect((await api.send('DELETE', `${path}${window.id}/?force=true`)).status).toBe(204);
    expect((await done(api.get(path))).results.map((w: { id: string }) => w.id)).not.toContain(window.id);
    expect(errors(await patch(window.id, { is_system_default: true }))).toEqual([400, ['is_system_default']]);
    await done(api.post(`${path}${window.id}/archive/`));
    expect((await done(api.get(`${path}${window.id}/`))).archived).toBe(false);
  });
});

describe('the system default', () => {
  const defaults = async () => (await done(api.get(`${path}?is_system_default=true`))).results.map((w: { id: string }) => w.id);

  it('is one window at most: another takes its place, and everybody may give it up', async () => {
    const [one, two] = [await make({ is_system_default: true }), await make()];
    expect([one.is_system_default, await defaults()]).toEqual([true, [one.id]]);
    expect((await done(patch(two.id, { is_system_default: true }))).is_system_default).toBe(true);
    expect(await defaults()).toEqual([two.id]);
    await done(patch(one.id, { is_system_default: false }));
    expect(await defaults()).toEqual([two.id]);
    await done(patch(two.id, { is_system_default: false }));
    expect(await defaults()).toEqual([]);
  });

  it('stays one when many are made the default at once', async () => {
    const windows = await Promise.all(Array.from({ length: 4 }, () => make()));
    await Promise.all(windows.map((w) => patch(w.id, { is_system_default: true })));
    expect(await defaults()).toHaveLength(1);
    const made = await make({ is_system_default: true });
    expect(await defaults()).toEqual([made.id]);
  });

  it('belongs to no organization, and is no key of SystemConfig', async () => {
    expect(errors(await api.post(path, fresh({ organization: acme, is_system_default: true })))).toEqual([400, ['is_system_default']]);
    const own = await make({ organization: acme });
    expect(errors(await patch(own.id, { is_system_default: true }))).toEqual([400, ['is_system_default']]);
    const settings = await done(api.get('system/config/'));
    expect(Object.keys(settings).filter((key) => /window/i.test(key))).toEqual([]);
    const before = await defaults();
    await done(api.send('PATCH', 'system/config/', { body: { default_window: 'mine', OPERATOR_ROLLOUT_PERCENTAGE: 30 } }));
    expect(await defaults()).toEqual(before);
  });
});
