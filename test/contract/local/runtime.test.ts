import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { derivedId } from '../../../lib/app/derived-ids.ts';
import type { Organization } from '../../../lib/domain/shared/fleet.ts';
import { tableExecutionLog } from '../../../local/execution-log.ts';
import { StartProblem } from '../../../local/problem.ts';
import { type Runtime, type RuntimeOptions, startRuntime } from '../../../local/runtime.ts';
import { WAVE } from '../../support/workflow.ts';

const START = Date.UTC(2026, 2, 1);
let base: string;
const running: Runtime[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'block-rollout-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((runtime) => runtime.stop()));
  rmSync(base, { recursive: true, force: true });
});

async function start(more: Partial<RuntimeOptions> = {}): Promise<Runtime> {
  const runtime = await startRuntime({ memory: true, data: join(base, 'data'), port: 0, virtualClock: null, ...more });
  running.push(runtime);
  return runtime;
}

const organization = ({ services }: Runtime, name: string): Omit<Organization, 'version'> => {
  const now = services.clock.now();
  const managed = {
    labels: {},
    annotations: {},
    created_at: now,
    updated_at: now,
    archived: false,
    archived_at: null,
    archived_reason: null,
  };
  return {
    ...managed,
    id: derivedId.organization(services.ids, name),
    name,
    display_name: null,
    criticality: null,
    contacts: [],
    maintenance_window: null,
  };
};

const problemOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no problem',
    (error: unknown) => error,
  );

test('answers over HTTP through the same handlers, on loopback', async () => {
  const runtime = await start();
  expect(runtime.baseUrl).toBe(`http://127.0.0.1:${runtime.port}`);
  const unknown = await fetch(`${runtime.baseUrl}/api/v1/organizations/`);
  expect([unknown.status, await unknown.json()]).toMatchObject([401, { type: 'client_error' }]);
  const agent = await fetch(`${runtime.baseUrl}/api/v1/agent/health/`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  expect(agent.status).toBe(401);
});

test('stop ends the table and the port, and can be called twice', async () => {
  const runtime = await start();
  await Promise.all([runtime.stop(), runtime.stop()]);
  await expect(fetch(runtime.baseUrl)).rejects.toThrow();
});

test('the clock cannot be moved over HTTP when it is the real one', async () => {
  const runtime = await start();
  for (const method of ['GET', 'POST']) expect((await fetch(`${runtime.baseUrl}/local/clock`, { method })).status).toBe(404);
});

describe('with a data folder', () => {
  test('what was written is there after a restart', async () => {
    const first = await start({ memory: false });
    await first.services.engine.objects.create('organization', organization(first, 'acme'));
    await first.stop();
    const second = await start({ memory: false });
    const kept = await second.services.engine.objects.get('organization', organization(second, 'acme').id);
    expect(kept?.name).toBe('acme');
    await second.stop();
    const fresh = await start({ memory: false, fresh: true });
    expect(await fresh.services.engine.objects.get('organization', organization(fresh, 'acme').id)).toBeNull();
  });

  test('a clock that would begin before what was written is refused; where it stood, or later, it goes on', async () => {
    const first = await start({ memory: false, virtualClock: START });
    await first.virtualClock?.advance(START + 10 * 60_000);
    await first.stop();
    const error = await problemOf(start({ memory: false, virtualClock: START }));
    expect(error).toBeInstanceOf(StartProblem);
    expect(String(error)).toContain(`Give --virtual-clock ${new Date(START + 10 * 60_000).toISOString()} or later`);
    await start({ memory: false, virtualClock: START + 10 * 60_000 });
  });

  test('a second one on the same folder is refused, and the first goes on', async () => {
    const first = await start({ memory: false });
    expect(await problemOf(start({ memory: false }))).toBeInstanceOf(StartProblem);
    expect((await fetch(`${first.baseUrl}/api/v1/organizations/`)).status).toBe(401);
  });

  test('when the port is taken, everything that had been started is ended again', async () => {
    const other = await start();
    const error = await problemOf(start({ memory: false, port: other.port }));
    expect(String(error)).toContain(`Port ${other.port}`);
    await start({ memory: false });
  });

  test('an execution that was cut short is reported to execution-watch, which forgets it when it drives nothing', async () => {
    const first = await start({ memory: false });
    await tableExecutionLog(first.table).put({ name: `wave-${WAVE}-g1`, machine: 'wave', started_at: START });
    await first.stop();
    const second = await start({ memory: false });
    expect(await tableExecutionLog(second.table).list()).toEqual([]);
    expect(second.engine.running()).toEqual([]);
  });
});

describe('with a clock that is moved by hand', () => {
  const move = async (runtime: Runtime, body: unknown) => {
    const answer = await fetch(`${runtime.baseUrl}/local/clock`, { method: 'POST', body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };

  test('it stands still, moves over HTTP and does not go back', async () => {
    const runtime = await start({ virtualClock: START });
    expect(await (await fetch(`${runtime.baseUrl}/local/clock`)).json()).toEqual({ now: '2026-03-01T00:00:00.000Z' });
    expect(await move(runtime, { advance_seconds: 3_600 })).toEqual({ status: 200, body: { now: '2026-03-01T01:00:00.000Z' } });
    expect(await move(runtime, { set: '2026-03-01T01:30:00Z' })).toEqual({ status: 200, body: { now: '2026-03-01T01:30:00.000Z' } });
    expect(await move(runtime, { set: '2026-03-01T01:29:59Z' })).toMatchObject({ status: 400 });
  });

  test('each minute that passes is ticked, at its own time', async () => {
    const runtime = await start({ virtualClock: START + 30_000 });
    const seen: number[] = [];
    const watch = async (): Promise<void> => {
      for (let minute = 1; minute <= 5; minute++) {
        await runtime.clock.until(START + minute * 60_000);
        seen.push(runtime.clock.now() - START);
      }
    };
    void watch();
    await move(runtime, { advance_seconds: 300 });
    expect(seen).toEqual([60_000, 120_000, 180_000, 240_000, 300_000]);
  });
});

test('the table ends with the process that started it, kill -9 included', async () => {
  const script = `const { startTable } = await import(${JSON.stringify(new URL('../../../local/table.ts', import.meta.url).href)});
    console.log((await startTable({ file: null })).client.endpoint); setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const socket = connect(Number(new URL(String(line).trim()).port), '127.0.0.1');
  await once(socket, 'connect');
  // A connection that is reset has ended as well.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  socket.resume();
  parent.kill('SIGKILL');
  await closed;
});

test('a table that cannot be reached is a clear message', async () => {
  process.env['DYNAMODB_ENDPOINT'] = 'http://127.0.0.1:9';
  try {
    expect(String(await problemOf(start()))).toContain('No table answers at http://127.0.0.1:9');
  } finally {
    delete process.env['DYNAMODB_ENDPOINT'];
  }
});
