import { afterEach, expect, test } from 'vitest';
import type { Sender } from '../../../lib/adapters/dynamodb/client.ts';
import { LOG_EVENTS, LOG_FIELDS } from '../../../lib/contracts/telemetry/log-events.ts';
import { adminKey } from '../../../local/admin-key.ts';
import { faulty, seeded } from '../../support/faults.ts';
import { names, World } from '../../support/world.ts';

let world: World;
afterEach(() => world.stop());

type Line = Record<string, unknown>;
const parsed = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line));
const of = (lines: readonly string[], event: keyof typeof LOG_EVENTS): Line[] => parsed(lines).filter((line) => line['event'] === event);

/** Three clusters: one succeeds, one fails and is tried again, one never claims its run. */
async function rollout(): Promise<void> {
  await world.plainRules();
  await world.config({ max_retries: 1, block_config_template: 'password: "hunter2-hunter2"\n' });
  await world.addClusters(names(3));
  world.host('c1').behaviour.exit = () => 1;
  await world.turns();
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  world.host('c3').behaviour.silent = true;
  await world.until(async () => (await world.wave()).counters.failed === 1);
  // Longer than a run may stay unclaimed.
  await world.play(600);
  world.host('c3').behaviour.silent = false;
  await world.until(async () => (await world.wave()).status === 'completed');
}

test('one line for each decision, with the ids that lead to the next and the reason', async () => {
  const lines: string[] = [];
  world = await World.start({ log: (line) => lines.push(line) });
  await rollout();
  const wave = await world.wave();
  const dispatched = of(lines, 'item_dispatched');
  const ended = of(lines, 'attempt_ended');
  expect(ended.map((line) => line['run']).sort()).toEqual(dispatched.map((line) => line['run']).sort());
  for (const line of [...dispatched, ...ended])
    expect(line).toMatchObject({ wave: wave.id, item: expect.any(String), agent: expect.any(String), attempt: expect.any(Number) });
  for (const line of dispatched)
    expect(line).toMatchObject({ execution: expect.stringContaining(wave.id), function: 'wave-dispatch', request_id: expect.any(String) });
  expect(ended.map((line) => [line['outcome'], line['item_status'], line['reason']])).toEqual(
    expect.arrayContaining([
      ['success', 'completed', undefined],
      ['failed', 'retrying', 'exit_code'],
      ['failed', 'failed', 'exit_code'],
      ['withdrawn', 'pending', 'withdrawn'],
    ]),
  );
  expect(of(lines, 'targets_decided')[0]).toMatchObject({
    function: 'enqueue-page',
    looked_at: 3,
    enqueued: 3,
    skipped: 0,
    reasons: { enqueue: 3 },
  });
  const [first] = of(lines, 'wave_planned');
  expect(first).toMatchObject({ wave: wave.id, execution: expect.stringContaining(wave.id), status: 'active' });
  expect(of(lines, 'wave_planned').some((line) => JSON.stringify(line['held'] ?? '').includes('agent_silent'))).toBe(true);
  expect(of(lines, 'wave_changed').at(-1)).toMatchObject({ wave: wave.id, from: 'active', to: 'completed', reason: 'all_items_ended' });
});

test('no key, header, config value or task token stands in the log, whatever goes wrong', async () => {
  const lines: string[] = [];
  const secrets = new Set<string>(['hunter2-hunter2']);
  const late = { now: (): number => 0 };
  world = await World.start({
    log: (line) => lines.push(line),
    between: (sender) => listening(faulty(sender, late, seeded(7)), (token) => secrets.add(token)),
  });
  late.now = () => world.now();
  await rollout();
  const key = await adminKey(world.services, null);
  const host = world.host('c1');
  secrets.add(key).add(world.token(host.workspace));
  // Wrong keys, and an administrator's key where an agent's belongs.
  const call = (path: string, authorization: string) =>
    fetch(`${world.runtime.baseUrl}/api/v1/${path}`, { method: 'POST', headers: { authorization }, body: '{}' });
  for (const path of ['agent/health/', 'import/', 'api-keys/'])
    for (const authorization of [`Bearer ${key}`, `Bearer ${key}x`, 'Basic dXNlcjpodW50ZXI=', `Bearer ${world.token(host.workspace)}`])
      await call(path, authorization);
  const fields = new Set<string>(['timestamp', 'level', 'event', ...LOG_FIELDS]);
  expect(lines.length).toBeGreaterThan(20);
  expect(secrets.size).toBeGreaterThan(4);
  for (const line of lines) for (const secret of secrets) expect(line).not.toContain(secret);
  for (const line of parsed(lines)) {
    expect(Object.keys(line).filter((field) => !fields.has(field))).toEqual([]);
    expect(LOG_EVENTS).toHaveProperty(String(line['event']));
  }
}, 60_000);

/** Hears the task tokens that are written for wakes. */
function listening(sender: Sender, heard: (token: string) => void): Sender {
  const send = (command: { input: { Key?: { sk?: string }; ExpressionAttributeValues?: Record<string, unknown> } }) => {
    const { Key, ExpressionAttributeValues: values = {} } = command.input;
    // The wake row's token is a UUID here, like many ids; the driver's name and what it saw are not secret.
    if (Key?.sk === 'X')
      for (const value of Object.values(values)) if (typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value)) heard(value);
    return (sender.send as (c: unknown) => Promise<unknown>)(command);
  };
  return { send } as unknown as Sender;
}
