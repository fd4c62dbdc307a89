import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import { ReferenceAgent } from '../../cli/agent.ts';
import { AgentClient, Connections } from '../../cli/agent-client.ts';
import { type FleetFile, fleetFile } from '../../lib/contracts/fleet.ts';
import { OPERATOR_APP, OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import { adminKey } from '../../local/admin-key.ts';
import { startVirtualFleet, type VirtualFleet } from '../../local/agents/virtual-fleet.ts';
import { ApiClient } from '../../local/api-client.ts';
import { importFleet } from '../../local/import-fleet.ts';
import { type Runtime, startRuntime } from '../../local/runtime.ts';

const cleanUp: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

const any = z.record(z.string(), z.any());

async function started(virtualClock: number | null, fleet: unknown) {
  const runtime = await startRuntime({ memory: true, data: '', port: 0, virtualClock });
  cleanUp.push(() => runtime.stop());
  const key = await adminKey(runtime.services.engine, null);
  const api = new ApiClient(runtime.baseUrl, key);
  const parsed = fleetFile.parse(fleet);
  const source = { file: 'test', text: stringify(fleet), fleet: parsed } as Parameters<typeof importFleet>[1];
  await importFleet(
    api,
    source,
    () => undefined,
    () => false,
  );
  return { runtime, api, key, fleet: parsed };
}

const clusters = (n: number, version: string | null) =>
  Array.from({ length: n }, (_, i) => ({
    name: `c${i}`,
    ...(version === null ? {} : { apps: [{ name: OPERATOR_APP, installed_version: version }] }),
  }));
const fleetOf = (list: unknown[], simulation: object, system_config: object = {}) => ({
  apiVersion: 'block-rollout/v1',
  system_config: { OPERATOR_BLOCK_VERSION: '2.0.0', ...system_config },
  organizations: [{ name: 'acme', contacts: ['ops@acme.example'], workspaces: [{ name: 'prod', clusters: list }] }],
  simulation,
});

async function play(s: { runtime: Runtime; key: string; fleet: FleetFile }, baseUrl = s.runtime.baseUrl): Promise<VirtualFleet> {
  const { runtime, key, fleet } = s;
  const agents = await startVirtualFleet({ baseUrl, adminKey: key, fleet, clock: runtime.clock, activity: runtime.activity, speed: 1 });
  cleanUp.push(() => agents.stop());
  return agents;
}

/** What the agent of this cluster last reported. */
async function installed(api: ApiClient, cluster: string): Promise<string | null> {
  const [row] = (await api.page(`k8sclusters/?name_exact=${cluster}`, any)).results;
  const [app] = (await api.page(`k8sapps/?k8s_cluster=${row?.['id']}`, any)).results;
  return app?.['installed_version'] ?? null;
}

async function advance(runtime: Runtime, seconds: number): Promise<void> {
  await runtime.virtualClock?.advance(runtime.clock.now() + seconds * 1000);
}

async function wave(api: ApiClient): Promise<string> {
  const [row] = (await api.page('block-rollouts/?page_size=1', any)).results;
  const r = row ?? {};
  return `${r['status']} ${r['total_items']} = ${r['completed_items']}+${r['in_progress_items']}+${r['pending_items']}+${r['failed_items']}+${r['skipped_items_count']}`;
}

describe('the virtual fleet', () => {
  const START = Date.UTC(2026, 2, 1);

  test('plays the file: work, failures, silence, first installs, over HTTP alone', async () => {
    const list = [...clusters(6, '1.0.0'), { name: 'bare' }, { name: 'dead', apps: [{ name: OPERATOR_APP, installed_version: '1.0.0' }] }];
    const rules = [
      { cluster: 'acme/prod/c0', fail: 'first:1' },
      { cluster: 'acme/prod/c1', fail: 'always' },
      { cluster: 'acme/prod/dead', silent: true },
    ];
    const s = await started(START, fleetOf(list, { seed: 3, default: { seconds: [10, 50] }, rules }));
    await play(s);
    await advance(s.runtime, 1800);
    expect(await wave(s.api)).toBe('active 8 = 6+0+1+1+0');
    expect(await installed(s.api, 'bare')).toBe('2.0.0');
    expect(await installed(s.api, 'c1')).toBe('1.0.0');
  });

  test('an agent that is killed at work takes the same run up again after its restart', async () => {
    const s = await started(START, fleetOf(clusters(1, '1.0.0'), { default: { seconds: [600, 600] } }));
    const agents = await play(s);
    await advance(s.runtime, 120);
    expect(await wave(s.api)).toBe('active 1 = 0+1+0+0+0');
    agents.kill('acme/prod/c0');
    await advance(s.runtime, 60);
    agents.restart('acme/prod/c0');
    await advance(s.runtime, 650);
    expect(await wave(s.api)).toBe('completed 1 = 1+0+0+0+0');
    expect((await s.api.page('action-runs/', any)).count).toBe(1);
  });

  test('another fleet process knows what the one before it had installed', async () => {
    const s = await started(START, fleetOf(clusters(3, '1.0.0'), { default: { seconds: [1, 1] } }));
    const first = await play(s);
    await advance(s.runtime, 300);
    await first.stop();
    await play(s);
    await advance(s.runtime, 3600);
    expect(await installed(s.api, 'c2')).toBe('2.0.0');
    expect((await s.api.page('action-runs/', any)).count).toBe(3);
  });

  test('outlives a service that answers 503, and loses no result', async () => {
    const s = await started(START, fleetOf(clusters(4, '1.0.0'), { default: { seconds: [100, 200] } }));
    const gate = await shutter(s.runtime.baseUrl);
    await play(s, gate.url);
    await advance(s.runtime, 90);
    gate.open = false;
    await advance(s.runtime, 240);
    expect(await wave(s.api)).toMatch(/^active 4 = 0\+/);
    gate.open = true;
    await advance(s.runtime, 180);
    expect(await wave(s.api)).toBe('completed 4 = 4+0+0+0+0');
  });
});

/** Hands requests on while it is open; else it answers as the gateway does when the service is down. */
async function shutter(target: string): Promise<{ url: string; open: boolean }> {
  const state = { url: '', open: true };
  const server = http.createServer((request, response) => {
    if (!state.open) {
      request.resume();
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"message":"Service Unavailable"}');
      return;
    }
    const onward = http.request(new URL(request.url ?? '/', target), { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => server.closeAllConnections());
  cleanUp.push(() => server.close());
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

describe('the reference agent', () => {
  const fast = { AGENT_REPORT_INTERVAL_SECONDS: 1 };

  async function agentFor(s: Awaited<ReturnType<typeof started>>, command: string): Promise<{ apps: string }> {
    const folder = mkdtempSync(join(tmpdir(), 'agent-'));
    cleanUp.push(() => rmSync(folder, { recursive: true }));
    const apps = join(folder, 'apps.json');
    writeFileSync(apps, JSON.stringify([{ name: OPERATOR_APP, installed_version: '1.0.0', state: 'OK' }]));
    const [workspace] = (await s.api.page('workspaces/', any)).results;
    const made = await s.api.post('agent-keys/', any, { name: 'reference', workspace: workspace?.['id'] });
    const connections = new Connections(s.runtime.baseUrl, 2);
    const stop = new AbortController();
    const agent = new ReferenceAgent(new AgentClient(connections, made['key'], 'uid-c0'), {
      kind: 'operator',
      reported_agent_id: 'operator',
      version: '1.0.0',
      cluster: { uid: 'uid-c0', name: 'c0' },
      apps: async () => JSON.parse(readFileSync(apps, 'utf8')),
      commands: { '*': [process.execPath, '-e', command, '{block}', '{action}', '{version}', apps] },
      say: () => undefined,
    });
    const over = agent.live(stop.signal);
    cleanUp.push(async () => {
      stop.abort();
      await over;
      connections.close();
    });
    return { apps };
  }

  async function until(api: ApiClient, expected: RegExp): Promise<string> {
    for (let tries = 0; tries < 150; tries++) {
      const now = await wave(api);
      if (expected.test(now)) return now;
      await pause(200);
    }
    return wave(api);
  }

  test('runs the command of the action, hands back its log, and shows the new version', async () => {
    process.env['BLOCK_ROLLOUT_AGENT_KEY'] = 'not for commands';
    cleanUp.push(() => delete process.env['BLOCK_ROLLOUT_AGENT_KEY']);
    const s = await started(null, fleetOf(clusters(1, '1.0.0'), {}, fast));
    const install = `
      const [block, action, version, apps] = process.argv.slice(1);
      require('fs').writeFileSync(apps, JSON.stringify([{ name: '${OPERATOR_APP}', installed_version: version, state: 'OK' }]));
      console.log(block, action, version, process.env.BLOCK_ROLLOUT_ATTEMPT, String(process.env.BLOCK_ROLLOUT_AGENT_KEY));
      console.error('a warning');`;
    await agentFor(s, install);
    expect(await until(s.api, / = 1\+/)).toContain('1 = 1+0+0+0+0');
    const [run] = (await s.api.page('action-runs/', any)).results;
    const detail = await s.api.get(`action-runs/${run?.['id']}/`, any);
    expect(detail['log_stdout']).toBe(`${OPERATOR_BLOCK} install 2.0.0 1 undefined\n`);
    expect(detail['log_stderr']).toBe('a warning\n');
    expect([detail['status'], detail['exit_code']]).toEqual(['success', 0]);
  });

  test('stops its command when the wave is cancelled: the item is skipped, not failed', async () => {
    const s = await started(null, fleetOf(clusters(1, '1.0.0'), {}, fast));
    await agentFor(s, 'setInterval(() => {}, 1000); console.log("never done")');
    for (let tries = 0; tries < 100 && (await s.api.page('action-runs/?status=running', any)).count === 0; tries++) await pause(100);
    const [row] = (await s.api.page('block-rollouts/', any)).results;
    await s.api.post(`block-rollouts/${row?.['id']}/cancel/`, any, {});
    expect(await until(s.api, /\+1$/)).toBe('cancelled 1 = 0+0+0+0+1');
  });
});
