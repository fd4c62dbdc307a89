import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminKey } from '../../../local/admin-key.ts';
import { names, World } from '../../support/world.ts';

let world: World;
let page: string;
let fetched: Response;

const get = (key: string) => fetch(`${world.runtime.baseUrl}/api/v1/metrics`, { headers: { authorization: `Bearer ${key}` } });
const number = (sample: string): number | null => {
  const line = page.split('\n').find((l) => l.startsWith(`block_rollout_${sample} `));
  return line === undefined ? null : Number(line.split(' ')[1]);
};

/** Six clusters, half at a time: one fails for good, one is silent; then the wave waits. */
beforeAll(async () => {
  world = await World.start();
  await world.plainRules();
  await world.config({ max_concurrent_percent: 50 });
  await world.addClusters(names(6));
  world.host('c1').behaviour.exit = () => 1;
  await world.turns();
  world.host('c6').behaviour.silent = true;
  await world.settings({ OPERATOR_BLOCK_VERSION: '2.0.0' });
  await world.until(async () => (await world.wave()).counters.failed === 1 && (await world.wave()).counters.done === 4);
  await world.play(600, 30);
  fetched = await get(await adminKey(world.services, null));
  page = await fetched.text();
}, 60_000);
afterAll(() => world.stop());

describe('GET /api/v1/metrics', () => {
  test('is the text that Prometheus reads, each family explained once', () => {
    expect(fetched.status).toBe(200);
    expect(fetched.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const explained = page.split('\n').filter((line) => line.startsWith('# TYPE'));
    expect(new Set(explained).size).toBe(explained.length);
    for (const line of page.trimEnd().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) block_rollout_|block_rollout_[a-z_]+(\{[a-z]+="[a-z_]+"\})? -?[0-9.e-]+$)/);
  });

  test('has waves, items and agents as the last tick found them', async () => {
    const { counters } = await world.wave();
    expect(number('waves{status="active"}')).toBe(1);
    expect(number('items{status="completed"}')).toBe(counters.done);
    expect(number('items{status="failed"}')).toBe(counters.failed);
    expect(number('items{status="pending"}')).toBe(counters.pending);
    expect([number('agents{state="ok"}'), number('agents{state="critical"}')]).toEqual([5, 1]);
    expect(number('platform_alert')).toBe(0);
    expect(number('tick_age_seconds')).toBeLessThan(61);
  });

  test('has what this process has counted', () => {
    expect(number('attempts_total{outcome="succeeded"}')).toBe(4);
    expect(number('attempts_total{outcome="failed"}')).toBe(1);
    // The silent one had its run withdrawn before it was known to be silent.
    expect(number('dispatched_total')).toBe(5 + (number('attempts_total{outcome="withdrawn"}') ?? 0));
    expect(number('heartbeats_total')).toBeGreaterThan(10);
    expect(number('decision_seconds_count')).toBeGreaterThan(0);
    expect(number('dispatch_delay_seconds_count')).toBeGreaterThan(0);
    expect(number('tick_failures_total')).toBe(0);
  });

  test('a late message is counted, and changes nothing else', async () => {
    const before = number('late_messages_total') ?? 0;
    const host = world.host('c2');
    const run = host.executed[0] ?? '';
    await world.agents.finishRun({ ...host.call(run), stdout: null, stderr: null, exit_code: 1, cancelled: false, finished_at: null });
    page = await (await get(await adminKey(world.services, null))).text();
    expect(number('late_messages_total')).toBe(before + 1);
    expect(number('attempts_total{outcome="failed"}')).toBe(1);
  });

  test('costs one read, however large the fleet', async () => {
    const key = await adminKey(world.services, null);
    await get(key);
    await world.settle();
    const { read } = world.runtime.table.units.total;
    await get(key);
    expect(world.runtime.table.units.total.read - read).toBeLessThanOrEqual(0.5);
  });

  test('is nothing for those who may not see the platform', async () => {
    expect((await get('nothing')).status).toBe(401);
    expect((await get(world.token(world.host('c1').workspace))).status).toBe(403);
  });
});
