import { randomUUID } from 'node:crypto';
import { GetFunctionConfigurationCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { afterAll, expect, test } from 'vitest';
import { Deployed } from './support/deployed.ts';
import { schedulesOf } from './support/schedules.ts';
import { changedSources, deploy } from './support/stacks.ts';
import { until } from './support/until.ts';

/** The engine's main job through the deployed stacks, as a user sees it. Each test goes on where the one before it stopped. */
const FLEET = new URL('fleet.yaml', import.meta.url).pathname;
const CLUSTERS = 12;
/** OPERATOR_ROLLOUT_PERCENTAGE and the config's own limit are 25 %. */
const AT_ONCE = 3;

const here = new Deployed();
const { executions } = here;
let key = '';
let operator = '';
let cron = '';
afterAll(() => here.stop());

const setVersion = (version: string, more: object = {}) =>
  here.api.patch('system-config/', { OPERATOR_BLOCK_VERSION: version, expected_targets: CLUSTERS, ...more });

const driverOf = (wave: string, not: string[] = []) =>
  until(`a driver of wave ${wave}`, 60, async () => {
    const running = await executions.names(true);
    return running.find((name) => name.startsWith(`wave-${wave}-g`) && !not.includes(name)) ?? null;
  });

/** What the clusters have reported; the dashboard's rows may be a tick old. */
async function installed(): Promise<Record<string, number>> {
  const { results } = await here.api.get('k8sapps/?page_size=200');
  const counts: Record<string, number> = {};
  for (const { installed_version } of results) counts[installed_version] = (counts[installed_version] ?? 0) + 1;
  return counts;
}

test('the first key is made with one command, and a second only by force', async () => {
  key = (await here.adminKey()).trim();
  expect(key).toMatch(/^brk_/);
  await expect(here.adminKey()).rejects.toThrow("There is an administrator's key already");
  here.signIn(key);
  expect(await here.api.get('whoami/')).toMatchObject({ role: 'platform_admin', access: 'read_write' });
});

test('what anybody may ask, a call without a key, and one with a wrong key', async () => {
  for (const path of ['/api/v1/health', '/api/v1/schema']) expect((await here.raw(path)).status, path).toBe(200);
  const without = await here.raw('/api/v1/whoami/');
  expect([without.status, await without.json()]).toEqual([401, { message: 'Unauthorized' }]);
  const wrong = await here.raw('/api/v1/whoami/', { authorization: `Bearer ${key.slice(0, -1)}` });
  expect([wrong.status, await wrong.json()]).toEqual([
    401,
    { type: 'client_error', errors: [{ code: 'authentication_failed', detail: expect.stringContaining('mistyped'), attr: null }] },
  ]);
});

test('a fleet of 12 clusters is imported; the same file again changes nothing', async () => {
  expect((await here.import(FLEET, key)).counts).toMatchObject({ organization: { created: 2 }, k8s_cluster: { created: CLUSTERS } });
  expect((await here.import(FLEET, key)).counts).toMatchObject({ k8s_cluster: { created: 0, updated: 0, unchanged: CLUSTERS } });
  const { results } = await here.api.get('block-rollout-configs/');
  operator = results.find((c: { name: string }) => c.name === 'operator').id;
});

test('agents report, and nothing is to be done', async () => {
  await here.startAgents(FLEET, key);
  await until('reports of all agents on the dashboard', 90, async () => {
    const { results } = await here.api.get('operator-rollout/');
    return results.every((row: { last_seen: string | null }) => row.last_seen !== null);
  });
  expect(await installed()).toEqual({ '1.0.0': CLUSTERS });
  expect((await here.api.get('block-rollouts/')).count).toBe(0);
});

test('a cron config is saved with its schedule in EventBridge, and one with a cron that never comes is refused', async () => {
  const backup = {
    ...{ name: 'backup', kind: 'trigger', trigger_type: 'schedule', cron_expression: '* * * * *' },
    ...{ block_name: 'ayedo/k8s/backup', action_name: 'backup', scope_expressions: ['backup=minutely'], expected_targets: 1 },
  };
  const refused = await here.api.send('POST', 'block-rollout-configs/', { ...backup, cron_expression: '0 0 31 2 *' });
  expect([refused.status, refused.body.errors[0].attr]).toEqual([400, 'cron_expression']);
  const made = await here.api.post('block-rollout-configs/', backup);
  cron = made.id;
  expect(made).toMatchObject({ schedule_status: 'ok', last_fire: null, targets_in_scope: 1 });
  expect(await schedulesOf(cron)).toEqual([
    { expression: 'cron(* * * * ? *)', zone: 'UTC', target: expect.stringContaining(':function:') },
  ]);
});

test('the wave machine by hand, with bad input: red, and it says what to do', async () => {
  const inputs: [unknown, string][] = [
    [{}, 'names neither a wave nor a rollout config'],
    ['operator', 'The input is not an object'],
    [{ rollout_config: 'opperator' }, 'There is no rollout config "opperator". GET /api/v1/block-rollout-configs/ lists them.'],
    [{ rollout_config: 'defaults' }, 'it starts nothing'],
    [{ block_rollout: randomUUID() }, 'GET /api/v1/block-rollouts/ lists them.'],
  ];
  const started = inputs.map(([input, cause]) => ({ name: randomUUID(), input, cause }));
  for (const { name, input } of started) await executions.start(name, input);
  for (const { name, cause } of started)
    expect(await executions.ended(name)).toMatchObject({ status: 'FAILED', error: 'InvalidInput', cause: expect.stringContaining(cause) });
});

test('the wave machine by hand, with nothing to drive: it starts an enqueue run and says so', async () => {
  const name = randomUUID();
  await executions.start(name, { rollout_config: 'operator' });
  const ended = await executions.ended(name);
  expect(ended).toMatchObject({ status: 'SUCCEEDED', output: expect.stringContaining('has no open wave. Enqueue run ') });
});

test('a new version: three clusters first, then the wave waits for a person', async () => {
  await setVersion('1.1.0');
  const held = await here.waveThat('1.1.0', 'waiting for its review', (wave) => {
    expect(wave.in_progress_items).toBeLessThanOrEqual(AT_ONCE);
    return wave.status === 'paused';
  });
  expect(held).toMatchObject({ total_items: CLUSTERS, completed_items: AT_ONCE, pending_items: CLUSTERS - AT_ONCE, in_progress_items: 0 });
  const items = await here.items(held.id);
  const done = items.filter((item: { status: string }) => item.status === 'completed');
  expect(done.map((item: { workspace: { name: string } }) => item.workspace.name)).toEqual(['first', 'first', 'first']);
  const [waiting] = items.filter((item: { status: string }) => item.status === 'pending');
  const { blockers } = await here.api.get(`block-rollout-items/${waiting.id}/`);
  expect(blockers.map((b: { code: string }) => b.code)).toContain('canary_review');
  await here.api.post(`block-rollouts/${held.id}/resume/`);
});

test('pause: what runs ends, nothing new starts; resume goes on', async () => {
  const { id } = await here.waveThat('1.1.0', 'going on', (wave) => wave.completed_items > AT_ONCE && wave.pending_items > 0);
  await here.api.post(`block-rollouts/${id}/pause/`);
  const still = await here.waveThat('1.1.0', 'still', (wave) => wave.in_progress_items === 0);
  expect(still).toMatchObject({ status: 'paused', failed_items: 0 });
  expect(still.pending_items).toBeGreaterThan(0);
  // Longer than two reports of every agent: somebody would have taken something.
  await new Promise((resolve) => setTimeout(resolve, 9_000));
  expect(await here.wave('1.1.0')).toMatchObject({ status: 'paused', in_progress_items: 0, pending_items: still.pending_items });
  await here.api.post(`block-rollouts/${id}/resume/`);
});

test('a cluster that fails blocks the wave, red in Step Functions with the numbers', async () => {
  const blocked = await here.waveThat('1.1.0', 'blocked', (wave) => wave.status === 'blocked' && wave.in_progress_items === 0);
  expect(blocked).toMatchObject({ failed_items: 1, completed_items: CLUSTERS - 1, is_terminal: false });
  const ended = await until('the failed execution', 30, async () => {
    const mine = (await executions.names(false)).filter((name) => name.startsWith(`wave-${blocked.id}-g`));
    const seen = await Promise.all(mine.map((name) => executions.see(name)));
    return seen.find((execution) => execution.error === 'WaveBlocked') ?? null;
  });
  expect(ended).toMatchObject({ status: 'FAILED', cause: expect.stringContaining('1 of 12 failed, more than 0 % are not allowed') });
  expect((await here.api.send('POST', `block-rollouts/${blocked.id}/resume/`)).status).toBe(409);
});

test('retry ends it: twelve of twelve', async () => {
  const blocked = await here.wave('1.1.0');
  expect(await here.api.post(`block-rollouts/${blocked.id}/retry/`, {})).toMatchObject({
    retried: 1,
    conflicts: [],
    still_to_retry_or_skip: 0,
  });
  const done = await here.waveThat('1.1.0', 'completed', (wave) => wave.status === 'completed');
  expect(done).toMatchObject({
    total_items: CLUSTERS,
    completed_items: CLUSTERS,
    failed_items: 0,
    skipped_items_count: 0,
    failure_rate: 0,
  });
  expect(await installed()).toEqual({ '1.1.0': CLUSTERS });
});

test('the wave machine by hand drives the open wave, and its former driver ends', async () => {
  const more = { hold_after_first_batch: false, max_retries: 1, retry_base_seconds: 0 };
  await here.api.patch(`block-rollout-configs/${operator}/`, { ...more, expected_targets: CLUSTERS });
  await setVersion('1.2.0', { OPERATOR_ROLLOUT_PERCENTAGE: 10 });
  const { id } = await here.waveThat('1.2.0', 'started', (wave) => wave.in_progress_items > 0);
  const former = await driverOf(id);
  const mine = randomUUID();
  await executions.start(mine, { rollout_config: 'operator' });
  expect(await executions.ended(former)).toMatchObject({ status: 'SUCCEEDED' });
  expect((await executions.names(true)).filter((name) => !name.startsWith('wave-'))).toEqual([mine]);

  // Killed in the console: its name says nothing, and still its wave gets another driver.
  await executions.kill(mine);
  const next = await driverOf(id, [former]);
  expect(next).not.toBe(mine);
  expect((await executions.see(mine)).status).toBe('ABORTED');

  // By the wave's own id it is the same.
  await executions.kill(next);
  await driverOf(id, [former, next]);
});

test('functions and workflow are deployed anew while a wave runs, and nothing is lost', async () => {
  const before = await here.wave('1.2.0');
  expect(before).toMatchObject({ status: 'active' });
  expect(before.pending_items).toBeGreaterThan(1);
  const drivers = await executions.names(true);
  const codes = await codeOfFunctions();
  await deploy(changedSources(), process.env);
  const after = await codeOfFunctions();
  expect([...after.keys()].sort()).toEqual([...codes.keys()].sort());
  for (const [name, code] of after) expect(code, name).not.toBe(codes.get(name));
  await here.api.patch('system-config/', { OPERATOR_ROLLOUT_PERCENTAGE: 50 });
  const done = await here.waveThat('1.2.0', 'completed', (wave) => wave.status === 'completed', 120);
  expect(done).toMatchObject({ total_items: CLUSTERS, completed_items: CLUSTERS, failed_items: 0, skipped_items_count: 0 });
  // Whatever was killed and deployed meanwhile, no cluster was asked twice, but for the one that fails the first time.
  const attempts = (await here.items(done.id)).map((item: { attempts: string[] }) => item.attempts.length);
  expect(attempts.toSorted()).toEqual([...Array(CLUSTERS - 1).fill(1), 2]);
  expect(await installed()).toEqual({ '1.2.0': CLUSTERS });
  // An execution of the former definition hands over to one of the new.
  for (const name of drivers) expect(await executions.ended(name)).toMatchObject({ status: 'SUCCEEDED' });
  expect((await executions.names(false)).filter((name) => name.startsWith(`wave-${done.id}-g`)).length).toBeGreaterThan(3);
}, 300_000);

test('the schedule has fired, in time, each minute a wave of its own; without it nothing fires any more', async () => {
  const waves = await until('two waves of the schedule', 90, async () => {
    const { results } = await here.api.get('block-rollouts/?page_size=200');
    const own = results.filter((wave: { rollout_config: string }) => wave.rollout_config === cron);
    return own.length > 1 && own;
  });
  for (const wave of waves) expect(wave).toMatchObject({ total_items: 1, failed_items: 0, skipped_items_count: 0 });
  const { last_fire } = await here.api.get(`block-rollout-configs/${cron}/`);
  expect(last_fire.late).toBeNull();
  expect(await here.api.patch(`block-rollout-configs/${cron}/`, { active: false })).toMatchObject({ schedule_status: null });
  expect(await schedulesOf(cron)).toEqual([]);
});

async function codeOfFunctions(): Promise<Map<string, string>> {
  const client = new LambdaClient({});
  const { Functions = [] } = await client.send(new ListFunctionsCommand({ MaxItems: 50 }));
  const ours = Functions.flatMap(({ FunctionName: name = '' }) => (name.startsWith('BlockRollout-') ? [name] : []));
  const codes = ours.map(async (FunctionName): Promise<[string, string]> => {
    const { CodeSha256 = '' } = await client.send(new GetFunctionConfigurationCommand({ FunctionName }));
    return [FunctionName, CodeSha256];
  });
  return new Map(await Promise.all(codes));
}
