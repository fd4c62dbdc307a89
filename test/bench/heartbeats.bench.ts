/**
 * Heartbeats per second and their latency, over HTTP, with driver and server on the same machine.
 * Run: `node test/bench/heartbeats.bench.ts [connections] [seconds] [clusters]`.
 * Goal (DESIGN §9): at least 3,000/s at 16 connections, p99 at most 20 ms, on two cores.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startRuntime } from '../../local/runtime.ts';
import { addFleet } from './support/fleet.ts';

const [connections = 16, seconds = 10, clusters = 1_000] = process.argv.slice(2).map(Number);
const runtime = await startRuntime({ memory: true, data: '', port: 0, virtualClock: null });
try {
  const { token, names } = await addFleet(runtime.services, clusters);
  const plan = { port: runtime.port, connections, seconds, warmup: 5, token, clusters: names };
  const driver = fileURLToPath(new URL('./support/heartbeat-driver.ts', import.meta.url));
  const before = { ...runtime.units(), cpu: process.cpuUsage() };
  const { stdout } = await promisify(execFile)(process.execPath, [driver, JSON.stringify(plan)], { maxBuffer: 1e8 });
  const after = runtime.units();
  console.log(`${connections} connections, ${clusters} clusters: ${stdout.trim()}`);
  const cpu = process.cpuUsage(before.cpu);
  console.log(`server: ${Math.round((cpu.user + cpu.system) / (after.write - before.write))} µs of processor time per unit written`);
  console.log(
    `units: ${after.write - before.write} written, ${after.read - before.read} read; memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`,
  );
} finally {
  await runtime.stop();
}
