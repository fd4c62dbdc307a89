import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { iso } from '../../../lib/http/present/common.ts';
import { type Api, startApi } from '../../support/api.ts';
import { done, makeFleet } from '../../support/api-fleet.ts';

let api: Api;
let fleet: Awaited<ReturnType<typeof makeFleet>>;
beforeAll(async () => {
  api = await startApi();
  fleet = await makeFleet(api);
});
afterAll(() => api.stop());

let serial = 0;
const frozen = (to: string, time_zone: string, fields: object = {}) => {
  const freezes = [{ from: '2020-01-01', to, reason: null }];
  return api.post('maintenance-windows/', {
    name: `far ${++serial}`,
    time_zone,
    time_slots: [{ start: '22:00', end: '04:00' }],
    freezes,
    ...fields,
  });
};

describe('a freeze until further notice', () => {
  it.each([
    ['9999-12-31', 'Europe/Berlin', '9999-12-31T23:00:00.000Z'],
    ['9999-12-31', 'Pacific/Kiritimati', '9999-12-31T10:00:00.000Z'],
    ['9999-12-31', 'America/New_York', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59Z', 'UTC', '9999-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59-12:00', 'UTC', '9999-12-31T23:59:59.999Z'],
  ])('to %s in %s is kept as written and never opens', async (to, zone, until) => {
    const made = await done(frozen(to, zone));
    expect(made.freezes[0].to).toBe(to);
    expect(await done(api.get(`maintenance-windows/${made.id}/preview/`))).toMatchObject({
      open_now: false,
      summary: 'does not open',
      frozen_until: { at: until },
      next_opening: null,
      openings: [],
    });
  });

  it.each(['9999-12-29', '9999-12-30'])('to %s has the openings that are left', async (to) => {
    const made = await done(frozen(to, 'Europe/Berlin'));
    const seen = await done(api.get(`maintenance-windows/${made.id}/preview/`));
    expect(seen.summary).toMatch(/^opens on \w{3} 9999-12-3[01] 00:00 Europe\/Berlin$/);
    expect(seen.openings.length).toBeGreaterThan(0);
  });

  it('leaves items and the board readable, also for those that only the freeze holds', async () => {
    await done(frozen('9999-12-31', 'America/New_York', { is_system_default: true }));
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '1.2.3' } }));
    const forced = await done(api.post(`operator-rollout/${fleet.cluster.id}/force-update/`));
    const item = await done(api.get(`block-rollout-items/${forced.id}/`));
    expect(item.blockers.map((b: { code: string }) => b.code)).toContain('freeze');
    const board = await done(api.get(`operator-rollout/?k8s_cluster=${fleet.cluster.id}`));
    expect(board.results[0].blockers.map((b: { code: string }) => b.code)).toContain('freeze');
  });
});

describe('times that the wire cannot carry', () => {
  const NEAR = '2026-01-01T00:00:00Z';
  it.each([
    ['start', '0000-01-01T00:00:00+12:00', '2030-01-01T00:00:00Z'],
    ['start', '-000001-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
    ['end', NEAR, '9999-12-31T23:59:59-12:00'],
    ['end', NEAR, '+275760-09-13T00:00:00Z'],
  ])('are refused as %s of a maintenance: %s to %s', async (attr, start, end) => {
    const answer = await api.post('maintenances/', { start, end });
    expect([answer.status, answer.body.errors.map((e: { attr: string }) => e.attr)]).toEqual([400, [attr]]);
  });

  it('are refused as the end of a pause; the last one it can carry is not', async () => {
    const pause = (paused_until: string) =>
      api.send('PATCH', `k8sclusters/${fleet.cluster.id}/`, { body: { rollout_override: { paused: true, paused_until } } });
    const refused = await pause('9999-12-31T23:59:59-12:00');
    expect([refused.status, refused.body.errors[0].attr]).toEqual([400, 'rollout_override.paused_until']);
    await done(pause('9999-12-31T23:59:59Z'));
    await done(api.get(`k8sclusters/${fleet.cluster.id}/`));
    await done(api.get('operator-rollout/'));
    const maintenance = await done(api.post('maintenances/', { start: '0000-01-01T00:00:00Z', end: '9999-12-31T23:59:59Z' }));
    expect((await done(api.get(`maintenances/${maintenance.id}/`))).end).toBe('9999-12-31T23:59:59.000Z');
  });

  it('are shown at the edge when a row has one all the same', () => {
    expect(iso(253_402_343_999_000)).toBe('9999-12-31T23:59:59.999Z');
    expect(iso(-62_167_262_400_000)).toBe('0000-01-01T00:00:00.000Z');
  });
});
