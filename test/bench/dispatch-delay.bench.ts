/**
 * How long a place stays empty: from the end of one item to the dispatch of the next, in a rollout of 200 clusters, 20 at once, 1–4 s of work.
 * Run: `node test/bench/dispatch-delay.bench.ts`. Goal (DESIGN §9): 95 % within 1 s.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { item, wave } from '../../lib/contracts/api/rollouts.ts';
import { adminKey } from '../../local/admin-key.ts';
import { startVirtualFleet } from '../../local/agents/virtual-fleet.ts';
import { ApiClient } from '../../local/api-client.ts';
import { begin } from '../../local/begin.ts';
import { readFleet } from '../../local/fleet-source.ts';
import { startRuntime } from '../../local/runtime.ts';
import { exampleFleet } from '../../scripts/example-fleet.ts';

const CLUSTERS = 200;
const AT_ONCE = 20;
const fleet = exampleFleet({ clusters: CLUSTERS, seed: 1, percentage: (100 * AT_ONCE) / CLUSTERS, target: '0.34.0', instant: true });
const folder = mkdtempSync(join(tmpdir(), 'block-rollout-bench-'));
const file = join(folder, 'fleet.yaml');
writeFileSync(file, fleet.replace('seconds: [0, 0]', 'seconds: [1, 4]'));
const source = readFleet(file);
const runtime = await startRuntime({ memory: true, data: '', port: 0, virtualClock: null });
try {
  const { ids, engine } = runtime.services;
  const key = await adminKey({ clock: runtime.clock, ids, objects: engine.objects }, null);
  const api = new ApiClient(runtime.baseUrl, key);
  const common = { baseUrl: runtime.baseUrl, adminKey: key, clock: runtime.clock, activity: null, speed: 1, fleet: source.fleet };
  const stage = { api, folder: null, signal: new AbortController().signal, say: () => undefined };
  const agents = await begin(stage, { source, fresh: true, start: () => startVirtualFleet(common) });
  while (!(await api.page('block-rollouts/', wave)).results.some(({ status }) => status === 'completed')) await sleep(1000);
  const [dispatched, ended] = await times(api);
  const delays = dispatched
    .slice(AT_ONCE)
    .map((at, n) => at - (ended[n] ?? 0))
    .toSorted((a, b) => a - b);
  const share = (part: number): number => delays[Math.ceil(part * delays.length) - 1] ?? 0;
  console.log(`${delays.length} places taken again: median ${share(0.5)} ms, 95 % ${share(0.95)} ms, longest ${share(1)} ms`);
  await agents?.stop();
} finally {
  await runtime.stop();
  rmSync(folder, { recursive: true });
}

/** When items were dispatched and when they ended, each in order: the n-th end frees the place of dispatch AT_ONCE + n. */
async function times(api: ApiClient): Promise<readonly [number[], number[]]> {
  const dispatched: number[] = [];
  const ended: number[] = [];
  for await (const { dispatched_at, completed_at } of api.all('block-rollout-items/?page_size=200', item)) {
    if (dispatched_at !== null) dispatched.push(Date.parse(dispatched_at));
    if (completed_at !== null) ended.push(Date.parse(completed_at));
  }
  return [dispatched.sort((a, b) => a - b), ended.sort((a, b) => a - b)];
}
