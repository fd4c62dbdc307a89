import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { dispatchBatch } from '../../../lib/app/engine/dispatch-batch.ts';
import { planWave } from '../../../lib/app/engine/plan-wave.ts';
import { MINUTE } from '../../../lib/domain/shared/time.ts';
import { type Api, startApi } from '../../support/api.ts';
import { done, makeFleet } from '../../support/api-fleet.ts';

/** Waves, items and attempts as people and agents see them through HTTP; the state machine's turns are taken by hand. */

let api: Api;
let fleet: Awaited<ReturnType<typeof makeFleet>>;
const running: Api[] = [];

beforeEach(async () => {
  api = await startApi();
  running.push(api);
  fleet = await makeFleet(api);
  await heartbeat();
});
afterAll(() => Promise.all(running.map((one) => one.stop())));

const HOST = { 'x-cluster-uid': 'uid-1', 'x-agent-id': 'operator' };
const asAgent = (path: string, body: unknown = {}, headers: Record<string, string> = HOST) =>
  api.send('POST', `agent/${path}/`, { key: fleet.agentKey, body, headers });
const heartbeat = (more: object = {}) =>
  done(
    asAgent('health', {
      kind: 'operator',
      reported_agent_id: 'operator',
      version: '0.34.0',
      cluster: { uid: 'uid-1', name: 'fra-1' },
      ...more,
    }),
  );
const makeItem = (more: object = {}) => api.post('block-rollout-items/', { block: fleet.block.id, reason: 'by hand', ...more });
const waveOf = async (item: { rollout: string }) => done(api.get(`block-rollouts/${item.rollout}/`));
const verb = (path: string, body?: unknown) => done(api.post(`${path}/`, body));

/** One turn of the wave's driver: what may start is started. */
async function turn(block_rollout: string): Promise<string> {
  const execution = `wave-${block_rollout}-g1`;
  const planned = await planWave(api.services.engine, { block_rollout, generation: 1, turn: 0, events: 0, execution, definition: '' });
  for (const batch of planned.batches) await dispatchBatch(api.services.engine, { block_rollout, generation: 1, execution, batch });
  return planned.next;
}

/** A manual item that its agent has claimed. */
async function startedItem() {
  const item = await done(makeItem());
  await turn(item.rollout);
  const [run] = (await heartbeat()).action_runs;
  const claimed = await done(asAgent(`action-runs/${run.id}/claim`));
  return { item, run: run.id as string, claimed };
}

describe('an item by hand', () => {
  test('is 201, waits in a wave of its own and is listed', async () => {
    const answer = await makeItem();
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      status: 'pending',
      source: 'manual',
      block: fleet.block.id,
      rendered_target_version: '1.15.0',
      reason: 'by hand',
    });
    expect(await waveOf(answer.body)).toMatchObject({
      ...{ status: 'active', source: 'manual', total_items: 1, pending_items: 1, in_progress_items: 0, dispatched_items: 0 },
      ...{ completed_items: 0, failed_items: 0, skipped_items_count: 0, failure_rate: 0, slots: 1, free_slots: 1, failures_by_reason: [] },
    });
    for (const query of [
      `rollout=${answer.body.rollout}`,
      `block=${fleet.block.id}&status=pending`,
      `k8s_cluster=${fleet.cluster.id}&source=manual`,
    ])
      expect((await done(api.get(`block-rollout-items/?${query}`))).results.map((row: { id: string }) => row.id)).toEqual([answer.body.id]);
    for (const query of ['status=failed', 'archived=true', 'search=nothing', `organizations=${fleet.workspace.id}`])
      expect((await done(api.get(`block-rollout-items/?${query}`))).count, query).toBe(0);
    expect((await done(api.get(`block-rollout-items/?archived=false&search=cert&organizations=${fleet.organization.id}`))).count).toBe(1);
  });

  test('a second one is 409 with the first', async () => {
    const { body: first } = await makeItem();
    const second = await makeItem();
    expect(second.status).toBe(409);
    expect(second.body).toMatchObject({
      errors: [{ code: 'conflict' }],
      conflict: { id: first.id, url: `/api/v1/block-rollout-items/${first.id}/` },
    });
  });

  test('fifty at once make one', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => makeItem()));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(answers.filter(({ status, body }) => status === 409 && body.conflict?.id === made[0]?.body.id)).toHaveLength(49);
    expect((await done(api.get('block-rollout-items/'))).count).toBe(1);
  });

  test.each([
    ['no block', {}, 'block', 'required'],
    ['an unknown block', { block: '018f3b1e-7c00-7abc-8def-0123456789ab' }, 'block', 'does_not_exist'],
    ['not an id', { block: 'cert-manager' }, 'block', 'invalid'],
  ])('%s is 400', async (_, body, attr, code) => {
    const answer = await api.post('block-rollout-items/', body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([{ attr, code }]);
  });

  test('can be skipped once; the block is free again', async () => {
    const { body: item } = await makeItem();
    expect(await verb(`block-rollout-items/${item.id}/skip`, { reason: 'not today' })).toMatchObject({
      status: 'skipped',
      reason: 'not today',
    });
    expect((await api.post(`block-rollout-items/${item.id}/skip/`)).status).toBe(409);
    expect(await waveOf(item)).toMatchObject({ total_items: 1, skipped_items_count: 1, pending_items: 0, failure_rate: 0 });
    expect((await makeItem()).status).toBe(201);
  });

  test('can be forced; past a freeze only with a reason', async () => {
    const { body: item } = await makeItem();
    const path = `block-rollout-items/${item.id}/force`;
    const refused = await api.post(`${path}/`, { override_freeze: true });
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toMatchObject([{ attr: 'reason', code: 'required' }]);
    expect(await verb(path)).toMatchObject({ forced: true, status: 'pending' });
    expect(await verb(path, { override_freeze: true, reason: 'the customer asked' })).toMatchObject({ forced: true });
  });

  test('says what holds it, and until when; a missing contact is only a warning', async () => {
    const { body: item } = await makeItem();
    const held = async () => (await done(api.get(`block-rollout-items/${item.id}/`))).blockers;
    expect(await held()).toMatchObject([{ code: 'contact_missing' }]);
    await verb(`block-rollouts/${item.rollout}/pause`);
    const until = new Date(api.clock.now() + 30 * MINUTE).toISOString();
    expect(await verb(`operator-rollout/${fleet.cluster.id}/pause`, { reason: 'audit', until })).toEqual({
      cluster_id: fleet.cluster.id,
      paused: true,
    });
    expect(await held()).toMatchObject([{ code: 'cluster_paused', until }, { code: 'wave_paused' }, { code: 'contact_missing' }]);
    expect(await verb(`operator-rollout/${fleet.cluster.id}/resume`)).toEqual({ cluster_id: fleet.cluster.id, paused: false });
    expect(await held()).toMatchObject([{ code: 'wave_paused' }, { code: 'contact_missing' }]);
  });
});

describe('the verbs of a wave', () => {
  test('pause, resume and cancel; each twice is the same', async () => {
    const { body: item } = await makeItem();
    const wave = `block-rollouts/${item.rollout}`;
    for (const _ of [1, 2])
      expect(await verb(`${wave}/pause`, { reason: 'lunch' })).toMatchObject({ status: 'paused', status_reason: 'lunch' });
    for (const _ of [1, 2]) expect(await verb(`${wave}/resume`)).toMatchObject({ status: 'active', status_reason: null });
    for (const _ of [1, 2]) expect(await verb(`${wave}/cancel`)).toMatchObject({ status: 'cancelled', is_terminal: true });
    expect((await api.post(`${wave}/resume/`)).status).toBe(409);
    await turn(item.rollout);
    expect(await done(api.get(`block-rollout-items/${item.id}/`))).toMatchObject({ status: 'skipped', reason: 'cancelled' });
  });

  test('PATCH of the status is the verb of that name; the whole object may be sent back', async () => {
    const { body: item } = await makeItem();
    const path = `block-rollouts/${item.rollout}/`;
    const patch = (body: unknown) => api.send('PATCH', path, { body });
    const whole = await done(api.get(path));
    expect(await done(patch({ ...whole, status: 'paused' }))).toMatchObject({ status: 'paused', total_items: 1 });
    expect(await done(patch({ status: 'active', total_items: 99 }))).toMatchObject({ status: 'active', total_items: 1 });
    const refused = await patch({ status: 'blocked' });
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toMatchObject([{ attr: 'status', code: 'invalid_choice' }]);
    expect((await patch({ status: 'done' })).body.errors).toMatchObject([{ attr: 'status', code: 'invalid_choice' }]);
    expect(await done(patch({ status: 'cancelled' }))).toMatchObject({ status: 'cancelled' });
  });

  test('retry is 409 while the wave runs', async () => {
    const { body: item } = await makeItem();
    expect((await api.post(`block-rollouts/${item.rollout}/retry/`)).status).toBe(409);
  });

  test('are filtered by status and by config', async () => {
    const { body: item } = await makeItem();
    const ids = async (query: string) => (await done(api.get(`block-rollouts/?${query}`))).results.map((row: { id: string }) => row.id);
    expect(await ids('status=active')).toEqual([item.rollout]);
    expect(await ids('status=paused')).toEqual([]);
    expect((await api.get('block-rollouts/?status=done')).body.errors).toMatchObject([{ attr: 'status', code: 'invalid_choice' }]);
  });
});

describe('an attempt', () => {
  test('is handed out, claimed with its config and counted', async () => {
    const { item, run, claimed } = await startedItem();
    expect(claimed).toMatchObject({
      id: run,
      status: 'running',
      attempt: 1,
      block: fleet.block.id,
      rendered_target_version: '1.15.0',
      action: 'install',
    });
    expect(await waveOf(item)).toMatchObject({ in_progress_items: 1, dispatched_items: 1, pending_items: 0, free_slots: 0 });
    expect(await done(asAgent(`action-runs/${run}/claim`))).toMatchObject({ id: run, status: 'running' });
    const listed = await done(api.get(`action-runs/?item=${item.id}`));
    expect(listed.results).toMatchObject([{ id: run, status: 'running', rollout: { id: item.rollout }, block: { id: fleet.block.id } }]);
  });

  test('finishes once; a late message is 200 and changes nothing', async () => {
    const { item, run } = await startedItem();
    await done(asAgent(`action-runs/${run}/progress`, { stdout: 'half way' }));
    expect(await done(asAgent(`action-runs/${run}/finish`, { exit_code: 0, stdout: 'done', stderr: '' }))).toMatchObject({
      status: 'success',
      exit_code: 0,
    });
    expect(await done(asAgent(`action-runs/${run}/finish`, { exit_code: 1, stdout: 'late' }))).toMatchObject({
      status: 'success',
      exit_code: 0,
    });
    expect(await done(api.get(`action-runs/${run}/`))).toMatchObject({ status: 'success', log_stdout: 'done' });
    expect(await done(api.get(`block-rollout-items/${item.id}/`))).toMatchObject({ status: 'completed', attempts: [run] });
    expect(await done(api.get(`blocks/${fleet.block.id}/`))).toMatchObject({ installed_version: '1.15.0', active_item: null });
  });

  test('failed attempts use up the tries; a retry brings fresh ones', async () => {
    const { item, run } = await startedItem();
    await done(asAgent(`action-runs/${run}/finish`, { exit_code: 7, stderr: 'no space left' }));
    expect(await done(api.get(`block-rollout-items/${item.id}/`))).toMatchObject({
      status: 'retrying',
      reason: expect.any(String),
      retry_after: expect.any(String),
    });
    expect(await waveOf(item)).toMatchObject({ pending_items: 1, failed_items: 0 });
    for (let left = 2; left > 0; left--) {
      api.clock.forward(10 * MINUTE);
      await heartbeat();
      await turn(item.rollout);
      const [next] = (await heartbeat()).action_runs;
      await done(asAgent(`action-runs/${next.id}/claim`));
      await done(asAgent(`action-runs/${next.id}/finish`, { exit_code: 7 }));
    }
    expect(await done(api.get(`block-rollout-items/${item.id}/`))).toMatchObject({ status: 'failed', retry_count: 2 });
    await turn(item.rollout);
    const failed = await waveOf(item);
    expect(failed).toMatchObject({ status: 'blocked', failed_items: 1, failure_rate: 100 });
    expect(failed.failures_by_reason).toMatchObject([{ count: 1 }]);
    expect((await api.post(`block-rollouts/${item.rollout}/resume/`)).status).toBe(409);
    expect(await verb(`block-rollouts/${item.rollout}/retry`)).toMatchObject({
      status: 'active',
      retried: 1,
      conflicts: [],
      still_to_retry_or_skip: 0,
    });
    expect(await done(api.get(`block-rollout-items/${item.id}/`))).toMatchObject({ status: 'pending', retry_count: 0 });
  });

  test('is asked to stop by a cancel and ends its item skipped', async () => {
    const { item, run } = await startedItem();
    await verb(`block-rollouts/${item.rollout}/cancel`);
    expect((await heartbeat()).cancel_action_runs).toEqual([run]);
    expect(await done(asAgent(`action-runs/${run}/finish`, { status: 'cancelled' }))).toMatchObject({ status: 'cancelled' });
    expect(await done(api.get(`block-rollout-items/${item.id}/`))).toMatchObject({ status: 'skipped' });
  });

  test('belongs to one host: another uid is 409, another cluster finds nothing', async () => {
    const { run } = await startedItem();
    const stranger = await asAgent(`action-runs/${run}/finish`, { exit_code: 0 }, { ...HOST, 'x-cluster-uid': 'uid-2' });
    expect(stranger.status).toBe(409);
    const other = await makeFleet(api, 'globex');
    const foreign = await api.send('POST', `agent/action-runs/${run}/finish/`, {
      key: other.agentKey,
      body: { exit_code: 0 },
      headers: HOST,
    });
    expect(foreign.status).toBe(404);
  });

  test('a revoked key finishes nothing', async () => {
    const { run } = await startedItem();
    await done(api.send('DELETE', `agent-keys/${fleet.agentKeyId}/`));
    expect((await asAgent(`action-runs/${run}/finish`, { exit_code: 0 })).status).toBe(401);
  });

  test.each([
    ['no result', {}, 'exit_code', 'required'],
    ['a text for the result', { exit_code: '0' }, 'exit_code', 'invalid'],
    ['a result of its own choice', { exit_code: 0, status: 'success' }, 'status', 'invalid_choice'],
  ])('%s is 400', async (_, body, attr, code) => {
    const { run } = await startedItem();
    const answer = await asAgent(`action-runs/${run}/finish`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([{ attr, code }]);
  });

  test('up to 5 MB of logs are taken and their last 64 KiB kept', async () => {
    const { run } = await startedItem();
    await done(asAgent(`action-runs/${run}/finish`, { exit_code: 0, stdout: `${'x'.repeat(4_500_000)}end` }));
    const { log_stdout } = await done(api.get(`action-runs/${run}/`));
    expect(log_stdout.length).toBeLessThanOrEqual(65_536);
    expect(log_stdout.endsWith('end')).toBe(true);
  });
});

describe('heartbeats', () => {
  test('a second host of the same cluster is 409', async () => {
    const answer = await asAgent('health', { kind: 'operator', reported_agent_id: 'operator', cluster: { uid: 'uid-2', name: 'fra-1' } });
    expect(answer.status).toBe(409);
  });

  test('what a newer agent says besides is accepted', async () => {
    expect(
      (await asAgent('health', { kind: 'operator', reported_agent_id: 'operator', cluster: { uid: 'uid-1' }, telepathy: true })).status,
    ).toBe(201);
  });

  test('a wrong report names its field', async () => {
    const answer = await asAgent('health', { kind: 'robot', apps: [{ installed_version: '1' }] });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map(({ attr, code }: { attr: string; code: string }) => [attr, code])).toEqual([
      ['kind', 'invalid_choice'],
      ['apps.0.name', 'required'],
    ]);
  });
});

describe('trigger-now', () => {
  const operator = async () => (await done(api.get('block-rollout-configs/?kind=trigger'))).results[0];

  test('makes one wave for what has no active item, and says how many', async () => {
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '0.35.0' } }));
    const { id } = await operator();
    const answer = await verb(`block-rollout-configs/${id}/trigger-now`, { expected_targets: 1 });
    expect(answer).toMatchObject({ id, targets_in_scope: 1, enqueued: 1, already_active: 0 });
    expect(await done(api.get(`block-rollouts/${answer.rollout.id}/`))).toMatchObject({
      source: 'manual',
      total_items: 1,
      target_version: '0.35.0',
    });
    expect(await verb(`block-rollout-configs/${id}/trigger-now`)).toMatchObject({ rollout: null, enqueued: 0, already_active: 1 });
  });

  test('another number of targets than meant is 409 and starts nothing', async () => {
    const { id } = await operator();
    expect((await api.post(`block-rollout-configs/${id}/trigger-now/`, { expected_targets: 2 })).status).toBe(409);
    expect((await done(api.get('block-rollouts/'))).count).toBe(0);
  });

  test('a config that is inactive or holds defaults is 409', async () => {
    const { id } = await operator();
    await done(api.send('PATCH', `block-rollout-configs/${id}/`, { body: { active: false } }));
    const [defaults] = (await done(api.get('block-rollout-configs/?kind=config'))).results;
    for (const config of [id, defaults.id]) expect((await api.post(`block-rollout-configs/${config}/trigger-now/`)).status).toBe(409);
  });
});

describe('operator rollout', () => {
  test('has a row for each cluster, a histogram and a summary', async () => {
    await heartbeat({ apps: [{ name: 'polycrate-operator', installed_version: '0.34.0', state: 'OK' }] });
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '0.35.0' } }));
    const answer = await done(api.get('operator-rollout/'));
    expect(answer.results).toMatchObject([
      { cluster_id: fleet.cluster.id, installed_version: '0.34.0', desired_version: '0.35.0', state: 'OK' },
    ]);
    expect(answer.histogram).toEqual([{ version: '0.34.0', count: 1 }]);
    expect(answer.summary).toMatchObject({ clusters: 1, desired_version: '0.35.0' });
    expect((await done(api.get('operator-rollout/?state=CRITICAL'))).results).toEqual([]);
  });

  test('force-update queues the operator now; again is the same item', async () => {
    await done(api.send('PATCH', 'system-config/', { body: { OPERATOR_BLOCK_VERSION: '0.35.0' } }));
    const path = `operator-rollout/${fleet.cluster.id}/force-update`;
    const first = await verb(path);
    expect(first).toMatchObject({ forced: true, status: 'pending', rendered_target_version: '0.35.0' });
    expect((await verb(path)).id).toBe(first.id);
    await turn(first.rollout);
    const running = await api.post(`${path}/`);
    expect(running.status).toBe(409);
    expect(running.body.conflict.id).toBe(first.id);
  });
});
