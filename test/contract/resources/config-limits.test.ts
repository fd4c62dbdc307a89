import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, type Api, startApi } from '../../support/api.ts';
import { done } from '../../support/api-fleet.ts';

let api: Api;
let system = { id: '', name: '' };
let operator = { id: '', name: '' };
beforeAll(async () => {
  api = await startApi();
  [system] = (await done(api.get('block-rollout-configs/?kind=config'))).results;
  [operator] = (await done(api.get('block-rollout-configs/?name=operator'))).results;
});
afterAll(() => api.stop());

const configs = 'block-rollout-configs/';
const trigger = { kind: 'trigger', trigger_type: 'reconciliation', target_version: '1.0.0' };
let serial = 0;
const create = (fields: object) => api.post(configs, { ...trigger, block_name: `block-${++serial}`, ...fields });
const problem = ({ status, body }: Answered) => [status, body.errors?.[0].attr, body.errors?.[0].code];

const RANGES = [
  ['max_concurrent_percent', 1, 100],
  ['failure_threshold_percent', 0, 100],
  ['max_retries', 0, 10],
  ['retry_base_seconds', 0, 3600],
  ['action_timeout_seconds', 60, 604_800],
  ['quiescence_seconds', 0, 86_400],
  ['soak_seconds', 0, 86_400],
] as const;

describe.each(RANGES)('boundary row 9: %s from %i to %i', (field, min, max) => {
  it('is taken at both ends', async () => {
    for (const value of [min, max]) {
      const { body } = await create({ [field]: value });
      expect(body[field]).toBe(value);
    }
  });

  it.each([min - 1, max + 1, min + 0.5, `${min}`, `${min}%`, 'abc', '', true])(
    '%j is refused, on a new config and on an old one',
    async (value) => {
      const refused = await create({ [field]: value });
      expect([refused.status, refused.body.errors[0].attr]).toEqual([400, field]);
      const path = `${configs}${system.id}/`;
      const before = (await done(api.get(path)))[field];
      expect((await api.send('PATCH', path, { body: { [field]: value } })).status).toBe(400);
      expect((await done(api.get(path)))[field]).toBe(before);
    },
  );
});

describe('null', () => {
  it.each(RANGES.slice(0, -1))('%s: inherited by a trigger, refused by the system config', async (field) => {
    expect((await create({ [field]: null })).body[field]).toBeNull();
    const refused = await api.send('PATCH', `${configs}${system.id}/`, { body: { [field]: null } });
    expect(problem(refused)).toEqual([400, field, 'null']);
  });
});

describe('the kind of a config', () => {
  it('must be said', async () => {
    const { kind: _, ...rest } = trigger;
    const refused = await api.post(configs, { ...rest, block_name: 'b' });
    expect([refused.status, refused.body.errors[0].attr]).toEqual([400, 'kind']);
  });

  it('of a system config stays', async () => {
    expect(problem(await api.send('PATCH', `${configs}${operator.id}/`, { body: { kind: 'config' } })).slice(0, 2)).toEqual([400, 'kind']);
  });
});

describe('system configs', () => {
  it.each(['config', 'trigger'])('there is one of kind %s', async (kind) => {
    const fields =
      kind === 'config' ? { kind, trigger_type: null, block_name: null, target_version: null, max_concurrent_percent: 1 } : { kind };
    const limits = {
      failure_threshold_percent: 1,
      max_retries: 1,
      retry_base_seconds: 1,
      action_timeout_seconds: 60,
      quiescence_seconds: 1,
    };
    expect(problem(await create({ ...fields, ...limits, is_system_config: true }))).toEqual([400, 'non_field_errors', 'unique']);
  });

  it('are not archived, in either way, not even by force', async () => {
    for (const { id } of [system, operator]) {
      expect((await api.send('DELETE', `${configs}${id}/`)).status).toBe(409);
      expect((await api.post(`${configs}${id}/archive/`, { archive_reason: 'x' })).status).toBe(409);
      expect((await done(api.get(`${configs}${id}/`))).archived).toBe(false);
    }
  });

  it('keep their name', async () => {
    expect(problem(await api.send('PATCH', `${configs}${system.id}/`, { body: { name: 'other' } })).slice(0, 2)).toEqual([400, 'name']);
  });
});

describe('opposite actions on one block', () => {
  it('may not meet by a write, by activation or by coming back', async () => {
    const install = await done(create({ block_name: 'contested', action_name: 'install' }));
    const path = `${configs}${install.id}/`;
    const opposite = { block_name: 'contested', action_name: 'uninstall', target_version: null };
    expect(problem(await create(opposite)).slice(0, 2)).toEqual([400, 'action_name']);
    await done(api.send('PATCH', path, { body: { active: false } }));
    const uninstall = await done(create(opposite));
    expect((await api.send('PATCH', path, { body: { active: true } })).status).toBe(400);
    await done(api.post(`${path}archive/`, { archive_reason: 'x' }));
    expect((await done(api.get(path))).archived).toBe(true);
    await done(api.post(`${path}archive/`));
    await done(api.post(`${configs}${uninstall.id}/archive/`, { archive_reason: 'x' }));
    await done(api.send('PATCH', path, { body: { active: true } }));
    const back = await api.post(`${configs}${uninstall.id}/archive/`);
    expect(problem(back).slice(0, 2)).toEqual([400, 'action_name']);
    expect((await done(api.get(`${configs}${uninstall.id}/`))).archived).toBe(true);
  });
});

describe('free keys of SystemConfig', () => {
  const patch = (body: object) => api.send('PATCH', 'system-config/', { body });

  it('hold 4 KiB as JSON each', async () => {
    expect((await patch({ big: 'x'.repeat(4094) })).status).toBe(200);
    const refused = await patch({ big: 'x'.repeat(4095), small: 1 });
    expect(problem(refused)).toEqual([400, 'big', 'max_length']);
    expect((await patch({ wide: 'é'.repeat(2048) })).status).toBe(400);
    expect(await done(api.get('system-config/'))).not.toHaveProperty('small');
  });

  it('hold 64 KiB together, and make room when some are taken away', async () => {
    const keys = Array.from({ length: 17 }, (_, n) => `room_${n}`);
    const refused = await patch(Object.fromEntries(keys.map((key) => [key, 'x'.repeat(4000)])));
    expect([refused.status, refused.body.errors[0].detail]).toEqual([400, expect.stringContaining('64 KiB')]);
    expect((await patch(Object.fromEntries(keys.slice(0, 14).map((key) => [key, 'x'.repeat(4000)])))).status).toBe(200);
    expect((await patch(Object.fromEntries(keys.map((key) => [key, null])))).status).toBe(200);
  });
});
