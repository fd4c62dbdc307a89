/** The agents' side of heartbeats.bench.ts, in a process of its own: keeps N connections busy with one report after the other. */
import { connect, type Socket } from 'node:net';
import * as z from 'zod';

const plan = z.object({
  port: z.number(),
  connections: z.number(),
  seconds: z.number(),
  warmup: z.number(),
  token: z.string(),
  clusters: z.array(z.string()),
});

const { port, connections, seconds, warmup, token, clusters } = plan.parse(JSON.parse(process.argv[2] ?? '{}'));
const latencies: number[] = [];
const statuses = new Map<string, number>();
const began = performance.now();
const counted = began + warmup * 1_000;
const end = counted + seconds * 1_000;

function requestOf(index: number): Buffer {
  const name = clusters[index % clusters.length] ?? '';
  const body = JSON.stringify({
    kind: 'operator',
    reported_agent_id: 'operator',
    version: '1.0.0',
    status: 'healthy',
    cluster: { uid: `uid-${name}`, name },
    apps: [{ name: 'polycrate-operator', installed_version: '0.33.0', state: 'OK' }],
  });
  const head = `POST /api/v1/agent/health/ HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** One connection: the next report goes out when the answer to the last one is complete. */
function beat(socket: Socket, first: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let index = first;
    let sent = 0;
    let text = '';
    const send = () => {
      sent = performance.now();
      socket.write(requestOf(index));
      index += connections;
    };
    socket.on('error', reject);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const body = text.indexOf('\r\n\r\n');
      if (body < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, body))?.[1] ?? 0);
      if (text.length < body + 4 + length) return;
      const status = text.slice(9, 12);
      text = '';
      const now = performance.now();
      if (sent >= counted) {
        latencies.push(now - sent);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      if (now < end) send();
      else {
        socket.end();
        resolve();
      }
    });
    send();
  });
}

const sockets = Array.from({ length: connections }, () => connect({ port, host: '127.0.0.1', noDelay: true }));
await Promise.all(sockets.map((socket, i) => beat(socket, i)));
latencies.sort((a, b) => a - b);
const at = (share: number): number => Math.round((latencies[Math.floor(share * (latencies.length - 1))] ?? 0) * 10) / 10;
console.log(
  JSON.stringify({
    per_second: Math.round(latencies.length / seconds),
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    worst_ms: at(1),
    statuses: Object.fromEntries(statuses),
  }),
);
