import { expect } from 'vitest';
import { documentClient, Table } from '../../lib/adapters/dynamodb/client.ts';
import { DynamoEngineStore } from '../../lib/adapters/dynamodb/engine-store.ts';
import { DynamoObjectStore } from '../../lib/adapters/dynamodb/object-store.ts';
import { SystemClock } from '../../lib/adapters/system/clock.ts';
import { SystemIds } from '../../lib/adapters/system/ids.ts';
import type { EngineStore } from '../../lib/app/engine/ports.ts';
import type { ObjectStore } from '../../lib/app/ports.ts';
import { TERMINAL_ITEM } from '../../lib/domain/item/transitions.ts';
import { OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import type { ActionRun, Counters, Item, Wave } from '../../lib/domain/shared/rollout.ts';
import { startTable } from '../../local/table.ts';

/** Everything about a rollout that the table of a stopped process holds. */
export interface Stored {
  readonly waves: readonly Wave[];
  readonly items: readonly Item[];
  readonly runs: readonly ActionRun[];
  /** The gate's own number of operator items in progress. */
  readonly updating: number;
  /** Block → the item that holds its place. */
  readonly places: ReadonlyMap<string, string | null>;
}

/** Reads a table file that nobody else has open. */
export async function readStored(file: string): Promise<Stored> {
  const embedded = await startTable({ file });
  const client = documentClient(embedded.client);
  try {
    const clock = new SystemClock();
    const table = new Table(client, embedded.name, { tries: 1, pause: () => Promise.resolve() });
    return await contentOf(new DynamoEngineStore(table), new DynamoObjectStore(table, clock, new SystemIds(clock)));
  } finally {
    client.destroy();
    await embedded.stop();
  }
}

async function contentOf(engine: EngineStore, objects: Pick<ObjectStore, 'getMany'>): Promise<Stored> {
  const page = { cursor: null, limit: 1000 };
  const waves: Wave[] = [];
  const items: Item[] = [];
  for (const id of (await engine.waveIds(page)).ids) {
    const state = await engine.wave(id);
    if (state !== null) waves.push(state.wave);
    for (const organization of await engine.waveOrganizations(id)) {
      const { ids } = await engine.itemIds(id, organization, page);
      items.push(...(await engine.items(ids, true)).values());
    }
  }
  const runs = [...(await engine.runs(items.flatMap((item) => item.attempts))).values()];
  const blocks = await objects.getMany(
    'block',
    items.map((item) => item.block),
  );
  const gate = await engine.gate();
  const places = new Map([...blocks.values()].map((block) => [block.id, block.active_item]));
  return { waves, items, runs, updating: gate.started - gate.ended, places };
}

const isOver = (item: Item): boolean => TERMINAL_ITEM.includes(item.status);

export function recount(items: readonly Item[]): Counters {
  const count = (...statuses: Item['status'][]): number => items.filter((item) => statuses.includes(item.status)).length;
  return {
    total: items.length,
    done: count('completed'),
    in_progress: count('in_progress'),
    pending: count('pending', 'retrying'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
}

/** SPEC §12 as far as the table alone can tell, at any moment at all. */
export function checkStored(now: Stored, before: Stored | null, limits: { readonly gate: number; readonly maxRetries: number }): void {
  for (const wave of now.waves)
    expect(wave.counters, 'I3: counters equal a recount').toEqual(recount(now.items.filter((item) => item.rollout === wave.id)));
  const active = now.items.filter((item) => !isOver(item));
  expect(new Set(active.map((item) => item.block)).size, 'I1: one active item per block').toBe(active.length);
  for (const [block, holder] of now.places)
    expect(holder ?? null, 'the place is held by the active item').toBe(active.find((item) => item.block === block)?.id ?? null);
  const updating = now.items.filter((item) => item.status === 'in_progress' && item.block_name === OPERATOR_BLOCK);
  expect(now.updating, 'the gate counts what is in progress').toBe(updating.length);
  expect(updating.length, 'I2: updating is within the gate').toBeLessThanOrEqual(limits.gate);
  for (const item of now.items) checkItem(item, now, limits.maxRetries);
  if (before !== null) checkKept(now, before);
}

function checkItem(item: Item, { runs }: Stored, maxRetries: number): void {
  const own = runs.filter((run) => run.item === item.id);
  const open = own.filter((run) => run.status === 'pending' || run.status === 'running');
  expect(own.length, 'every attempt has its run').toBe(item.attempts.length);
  expect(open.length, 'I5: what is in progress has one open run, nothing else has any').toBe(item.status === 'in_progress' ? 1 : 0);
  expect(item.tries, 'I7: attempts within the tries').toBeLessThanOrEqual(1 + maxRetries);
  expect(own.filter((run) => run.status === 'success').length, 'I5: succeeded once').toBe(item.status === 'completed' ? 1 : 0);
}

/** I6: what has ended stays as it is, and nothing disappears. */
function checkKept(now: Stored, before: Stored): void {
  const items = new Map(now.items.map((item) => [item.id, item]));
  const runs = new Map(now.runs.map((run) => [run.id, run]));
  for (const item of before.items) {
    expect(items.has(item.id), 'no item disappears').toBe(true);
    if (isOver(item)) expect(items.get(item.id), 'I6: an item that has ended stays as it is').toEqual(item);
  }
  for (const run of before.runs) if (run.finished_at !== null) expect(runs.get(run.id), 'I5: a run is finished once').toEqual(run);
}
