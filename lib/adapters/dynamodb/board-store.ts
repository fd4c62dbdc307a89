import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Board, BoardMarks, BoardStore, Entry, Touch } from '../../app/operator/board.ts';
import type { Clock, Ids } from '../../app/ports.ts';
import { DAY } from '../../domain/shared/time.ts';
import type { Table } from './client.ts';
import { eq, missing } from './expression.ts';
import { keys } from './keys.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** DESIGN A4: a part of the board as a row. */
const MOST_PACKED = 300 * 1024;
const AT_ONCE = 1000;
/** Parts that a lost race has left behind go by themselves; those in use are written anew long before. */
const KEPT = 3 * DAY;
const RENEWED_AFTER = DAY;

interface Part {
  readonly hash: string;
  readonly written_at: number;
}
interface Head {
  readonly revision: number;
  readonly at: number;
  readonly parts: readonly Part[];
  /** Of the board before: somebody may still be reading it. */
  readonly retired: readonly string[];
}
interface Packed {
  readonly hash: string;
  readonly body: Uint8Array;
}

/** Parts are named by what is in them, so that a reader never meets half a board, and what has not changed costs nothing. */
export class DynamoBoardStore implements BoardStore {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #ids: Ids;
  /** Of the board that was read last. */
  #known = new Map<string, readonly unknown[]>();

  constructor(table: Table, clock: Clock, ids: Ids) {
    this.#table = table;
    this.#clock = clock;
    this.#ids = ids;
  }

  async read(): Promise<Board | null> {
    // A part may be gone when two looks have been published meanwhile.
    for (let round = 0; round < 3; round++) {
      const head = await this.#head();
      if (head === null) return null;
      const parts = await this.#parts(head.parts.map(({ hash }) => hash));
      if (parts === null) continue;
      const [marks, ...rest] = parts.flat();
      const isHidden = (value: unknown): value is string => typeof value === 'string';
      const entries = rest.filter((value) => !isHidden(value)) as Entry[];
      return { revision: head.revision, at: head.at, marks: marks as BoardMarks, entries, hidden: rest.filter(isHidden) };
    }
    return null;
  }

  async publish(before: Board | null, next: Omit<Board, 'revision'>): Promise<boolean> {
    const head = await this.#head();
    if ((head?.revision ?? 0) !== (before?.revision ?? 0)) return false;
    const packed = await packedOf(next);
    const fresh = new Map((head?.parts ?? []).filter((part) => part.written_at > next.at - RENEWED_AFTER).map((part) => [part.hash, part]));
    const written = packed.filter(({ hash }) => !fresh.has(hash));
    const expires_at = Math.ceil((next.at + KEPT) / 1000);
    for (const { hash, body } of written) await this.#table.put({ ...keys.boardPart(hash), entity: 'board_part', body, expires_at });
    const parts = packed.map(({ hash }) => fresh.get(hash) ?? { hash, written_at: next.at });
    const used = new Set(parts.map(({ hash }) => hash));
    const retired = (head?.parts ?? []).map(({ hash }) => hash).filter((hash) => !used.has(hash));
    const set = { entity: 'board', revision: (head?.revision ?? 0) + 1, at: next.at, parts, retired };
    const condition = head === null ? missing('pk') : eq('revision', head.revision);
    if (!(await this.#table.update(keys.board(), { set }, condition)).ok) return false;
    const old = (head?.retired ?? []).filter((hash) => !used.has(hash) && !retired.includes(hash));
    for (let at = 0; at < old.length; at += 100)
      await this.#table.transact(old.slice(at, at + 100).map((hash) => ({ kind: 'delete', key: keys.boardPart(hash) })));
    return true;
  }

  async touched(limit: number): Promise<readonly Touch[]> {
    const { rows } = await this.#table.query({ pk: keys.touch('').pk, limit, consistent: true });
    return rows.map((row) => ({ cluster: row.sk, token: String(row['token']) }));
  }

  async touch(cluster: string): Promise<void> {
    const expires_at = Math.ceil((this.#clock.now() + KEPT) / 1000);
    await this.#table.update(keys.touch(cluster), { set: { entity: 'touch', token: this.#ids.fresh(), expires_at } });
  }

  async settle(touches: readonly Touch[]): Promise<void> {
    for (const { cluster, token } of touches)
      await this.#table.transact([{ kind: 'delete', key: keys.touch(cluster), condition: eq('token', token) }]);
  }

  async #head(): Promise<Head | null> {
    return (await this.#table.get(keys.board(), true)) as Head | null;
  }

  async #parts(hashes: readonly string[]): Promise<readonly (readonly unknown[])[] | null> {
    const rows = await this.#table.getMany(hashes.filter((hash) => !this.#known.has(hash)).map((hash) => keys.boardPart(hash)));
    const read = await Promise.all(
      rows.map(async (row) => [row.pk, JSON.parse((await unzip(row['body'] as Uint8Array)).toString()) as unknown[]] as const),
    );
    const found = new Map([...this.#known, ...read.map(([pk, values]) => [pk.slice(pk.indexOf('#') + 1), values] as const)]);
    const parts = hashes.flatMap((hash) => (found.has(hash) ? [[hash, found.get(hash) ?? []] as const] : []));
    if (parts.length < hashes.length) return null;
    this.#known = new Map(parts);
    return parts.map(([, values]) => values);
  }
}

/** One list of values: the marks, the entries, and the ids of the clusters without one. */
async function packedOf({ marks, entries, hidden }: Pick<Board, 'marks' | 'entries' | 'hidden'>): Promise<Packed[]> {
  const stretches = [entries, hidden].flatMap((values: readonly unknown[]) =>
    Array.from({ length: Math.ceil(values.length / AT_ONCE) }, (_, n) => values.slice(n * AT_ONCE, (n + 1) * AT_ONCE)),
  );
  return (await Promise.all([[marks], ...stretches].map((values) => packed(values)))).flat();
}

async function packed(values: readonly unknown[]): Promise<Packed[]> {
  const text = JSON.stringify(values);
  const body = new Uint8Array(await zip(text));
  if (body.length <= MOST_PACKED || values.length === 1) return [{ hash: hash('sha256', text, 'base64url').slice(0, 22), body }];
  const half = Math.ceil(values.length / 2);
  return [...(await packed(values.slice(0, half))), ...(await packed(values.slice(half)))];
}
