import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { TableConnection } from '../../../local/table-connection.ts';

const HEAD = 'POST / HTTP/1.1\r\nhost: table\r\n';
const answerOf = (body: string): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

let server: Server;
let connection: TableConnection;

/** A table that does what it is told: `handle` gets each connection. */
async function table(handle: (socket: Socket, text: string) => void): Promise<void> {
  server = createServer((socket) => socket.on('data', (piece) => handle(socket, piece.toString())));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  connection = new TableConnection({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
}

afterEach(() => {
  connection.destroy();
  server.close();
});

test('requests of one turn go out together and are answered in their order, letters of several bytes included', async () => {
  const pieces: string[] = [];
  await table((socket, text) => {
    pieces.push(text);
    socket.write(Buffer.concat(['eins', 'zwölf ✓', ''].map(answerOf)));
  });
  const answers = await Promise.all(['1', '2 ✓', '3'].map((body) => connection.send(HEAD, body)));
  expect(answers).toEqual([
    { status: 200, body: 'eins' },
    { status: 200, body: 'zwölf ✓' },
    { status: 200, body: '' },
  ]);
  expect(pieces).toEqual([`${HEAD}content-length: 1\r\n\r\n1${HEAD}content-length: 5\r\n\r\n2 ✓${HEAD}content-length: 1\r\n\r\n3`]);
  expect(connection.open).toBe(0);
});

test('an answer that comes byte by byte is put together', async () => {
  await table((socket) => {
    for (const byte of answerOf('größe')) socket.write(Buffer.of(byte));
  });
  expect(await connection.send(HEAD, '')).toEqual({ status: 200, body: 'größe' });
});

test('a connection that breaks in the middle of an answer fails all that wait on it; the next request opens another', async () => {
  let broken = 0;
  await table((socket) => {
    if (broken++ > 0) socket.write(answerOf('again'));
    else socket.end(answerOf('whole').subarray(0, 30));
  });
  const lost = await Promise.allSettled([connection.send(HEAD, 'a'), connection.send(HEAD, 'b')]);
  expect(lost.map((one) => one.status === 'rejected' && (one.reason as { code?: string }).code)).toEqual(['ECONNRESET', 'ECONNRESET']);
  expect(await connection.send(HEAD, 'c')).toEqual({ status: 200, body: 'again' });
});

test('a connection that was closed here opens no other', async () => {
  let opened = 0;
  await table((socket) => {
    opened += 1;
    socket.write(answerOf('a'));
  });
  await connection.send(HEAD, 'a');
  connection.destroy();
  await expect(connection.send(HEAD, 'b')).rejects.toThrow('closed');
  expect(opened).toBe(1);
});

test('where nobody listens the request fails with the reason', async () => {
  await table(() => undefined);
  server.close();
  await once(server, 'close');
  await expect(connection.send(HEAD, 'a')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('an answer without a length is refused, not waited for', async () => {
  await table((socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'));
  await expect(connection.send(HEAD, 'a')).rejects.toThrow('without a length');
});
