import { connect, type Socket } from 'node:net';

export interface TableAnswer {
  readonly status: number;
  readonly body: string;
}

interface Waiting {
  resolve(answer: TableAnswer): void;
  reject(error: Error): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * One kept connection to the embedded table, without a request object for each call: what a call costs besides the table's own work is a third.
 * Requests of one turn of the event loop go out in one write and are answered in their order.
 */
export class TableConnection {
  readonly #target: { readonly host: string; readonly port: number };
  #socket: Socket | null = null;
  #queued: Waiting[] = [];
  #outgoing = '';
  /** Sent, in the order in which they will be answered. */
  #waiting: Waiting[] = [];
  #received: Buffer = NOTHING;
  #destroyed = false;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
  }

  /** Requests that wait for their answer. */
  get open(): number {
    return this.#queued.length + this.#waiting.length;
  }

  /** `head`: the whole request line and header lines but for the length. A connection that breaks rejects all that wait on it; the next request opens a new one. */
  send(head: string, body: string): Promise<TableAnswer> {
    if (this.#destroyed) return Promise.reject(new Error('The connection to the table is closed.'));
    const { promise, resolve, reject } = Promise.withResolvers<TableAnswer>();
    if (this.#queued.length === 0) process.nextTick(() => this.#flush());
    this.#queued.push({ resolve, reject });
    this.#outgoing += `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return promise;
  }

  destroy(): void {
    this.#destroyed = true;
    this.#socket?.destroy();
  }

  #flush(): void {
    this.#socket ??= this.#connected();
    this.#socket.write(this.#outgoing);
    this.#outgoing = '';
    this.#waiting.push(...this.#queued);
    this.#queued = [];
  }

  #connected(): Socket {
    const socket = connect({ ...this.#target, noDelay: true });
    socket.on('data', (piece: Buffer) => this.#receive(piece));
    socket.on('error', (error) => this.#lost(socket, error));
    socket.on('close', () => this.#lost(socket, Object.assign(new Error('The table closed the connection.'), { code: 'ECONNRESET' })));
    return socket;
  }

  #lost(socket: Socket, error: Error): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#received = NOTHING;
    const lost = this.#waiting;
    this.#waiting = [];
    for (const { reject } of lost) reject(error);
  }

  #receive(piece: Buffer): void {
    let bytes = this.#received.length === 0 ? piece : Buffer.concat([this.#received, piece]);
    for (let end = bytes.indexOf(HEAD_END); end >= 0; end = bytes.indexOf(HEAD_END)) {
      const head = bytes.toString('latin1', 0, end);
      const start = end + HEAD_END.length;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
      if (Number.isNaN(length)) {
        this.#socket?.destroy(new Error('The table answered without a length.'));
        return;
      }
      if (bytes.length < start + length) break;
      this.#waiting.shift()?.resolve({ status: Number(head.slice(9, 12)), body: bytes.toString('utf8', start, start + length) });
      bytes = bytes.subarray(start + length);
    }
    this.#received = bytes;
  }
}
