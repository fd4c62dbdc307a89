import type { Sender } from '../../lib/adapters/dynamodb/client.ts';
import type { Clock } from '../../lib/app/ports.ts';

/** How often what happens, as shares of the calls it can happen to. */
export interface FaultShares {
  readonly conflict: number;
  readonly throttle: number;
  /** Done, but the answer never came. */
  readonly lostAnswer: number;
  /** New index rows that are hidden for up to 5 s, and moved ones that are still shown. */
  readonly indexLag: number;
}

export const USUAL_FAULTS: FaultShares = { conflict: 0.08, throttle: 0.03, lostAnswer: 0.04, indexLag: 0.3 };
const LONGEST_LAG = 5_000;

/** A small generator of numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Command = { constructor: { name: string }; input: Record<string, unknown> };
type IndexRow = Record<string, unknown>;
type WriteParts = Record<string, { readonly Key?: IndexRow; readonly Item?: IndexRow }>;

/**
 * Stands between the program and its table and does, by seed, what DynamoDB does and the embedded table does not (DESIGN §4): hidden and stale
 * index rows, conflicting transactions, throttling, and answers that get lost after the commit.
 */
export function faulty(sender: Sender, clock: Pick<Clock, 'now'>, random: () => number, shares: FaultShares = USUAL_FAULTS): Sender {
  const lag = new IndexLag(clock, random, shares.indexLag);
  const inner = sender.send.bind(sender) as (command: unknown) => Promise<Record<string, unknown>>;
  const send = async (command: Command): Promise<unknown> => {
    const name = command.constructor.name;
    const writes = name === 'TransactWriteCommand' || name === 'UpdateCommand' || name === 'PutCommand';
    if (random() < shares.throttle) throw fault('ProvisionedThroughputExceededException');
    if (name === 'TransactWriteCommand' && random() < shares.conflict) throw conflict(command);
    const answer = await inner(command);
    if (writes) lag.wrote(command);
    if (writes && random() < shares.lostAnswer) throw fault('TimeoutError');
    return name === 'QueryCommand' ? lag.seen(command, answer) : answer;
  };
  return { send } as unknown as Sender;
}

const fault = (name: string): Error => Object.assign(new Error(`injected: ${name}`), { name });

function conflict(command: Command): Error {
  const items = command.input['TransactItems'] as unknown[];
  const CancellationReasons = items.map((_, i) => ({ Code: i === 0 ? 'TransactionConflict' : 'None' }));
  return Object.assign(fault('TransactionCanceledException'), { CancellationReasons });
}

class IndexLag {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #random: () => number;
  readonly #share: number;
  /** When a row was written last, and when its new place in an index becomes visible. */
  readonly #written = new Map<string, number>();
  readonly #visibleAt = new Map<string, number>();
  /** What a partition showed last, and until when a row that left it may still be shown. */
  readonly #shown = new Map<string, Map<string, { row: IndexRow; until: number }>>();

  constructor(clock: Pick<Clock, 'now'>, random: () => number, share: number) {
    this.#clock = clock;
    this.#random = random;
    this.#share = share;
  }

  wrote(command: Command): void {
    const items = (command.input['TransactItems'] as WriteParts[] | undefined) ?? [{ one: command.input as WriteParts[string] }];
    for (const item of items) {
      for (const { Key, Item } of Object.values(item)) {
        const row = Key ?? Item;
        if (row !== undefined) this.#written.set(`${String(row['pk'])} ${String(row['sk'])}`, this.#clock.now());
      }
    }
  }

  seen(command: Command, answer: Record<string, unknown>): Record<string, unknown> {
    const index = command.input['IndexName'] as string | undefined;
    const rows = answer['Items'] as IndexRow[] | undefined;
    if (index === undefined || rows === undefined) return answer;
    const partition = `${index} ${JSON.stringify(command.input['ExpressionAttributeValues'])}`;
    const place = (row: IndexRow): string => `${index} ${String(row['pk'])} ${String(row[`${index}pk`])} ${String(row[`${index}sk`])}`;
    const now = this.#clock.now();
    const visible = rows.filter((row) =>
      this.#isVisible(place(row), this.#written.get(`${String(row['pk'])} ${String(row['sk'])}`) ?? 0, now),
    );
    const stale = this.#stale(partition, new Set(rows.map((row) => String(row['pk']))), now);
    this.#remember(partition, visible, place, now);
    return { ...answer, Items: [...visible, ...stale] };
  }

  #isVisible(place: string, written: number, now: number): boolean {
    const at = this.#visibleAt.get(place) ?? written + (this.#random() < this.#share ? this.#random() * LONGEST_LAG : 0);
    this.#visibleAt.set(place, at);
    return at <= now;
  }

  #stale(partition: string, present: ReadonlySet<string>, now: number): IndexRow[] {
    const before = this.#shown.get(partition);
    if (before === undefined) return [];
    return [...before.values()].filter(({ row, until }) => until > now && !present.has(String(row['pk']))).map(({ row }) => row);
  }

  #remember(partition: string, visible: readonly IndexRow[], place: (row: IndexRow) => string, now: number): void {
    const until = (): number => now + (this.#random() < this.#share ? this.#random() * LONGEST_LAG : 0);
    this.#shown.set(partition, new Map(visible.map((row) => [place(row), { row, until: until() }])));
  }
}
