import { expect } from 'vitest';
import { derivedId } from '../../lib/app/derived-ids.ts';
import { TERMINAL_ITEM } from '../../lib/domain/item/transitions.ts';
import { OPERATOR_BLOCK } from '../../lib/domain/shared/fleet.ts';
import type { Item } from '../../lib/domain/shared/rollout.ts';
import { slotsOf } from '../../lib/domain/wave/slots.ts';
import type { World } from './world.ts';

/** What an outside observer remembers between two looks. */
export class Invariants {
  readonly #world: World;
  readonly #ended = new Map<string, Item>();
  /** Most items that may be in progress at once, whatever wave; null = not watched. */
  readonly #gate: () => number | null;

  constructor(world: World, gate: () => number | null = () => null) {
    this.#world = world;
    this.#gate = gate;
  }

  /** SPEC §12, as far as one look can tell. Call it while nothing is under way. */
  async check(maxRetries: number, percent = 100): Promise<void> {
    const all: Item[] = [];
    for (const wave of await this.#world.waves()) {
      const items = await this.#world.items(wave.id);
      all.push(...items);
      const count = (...statuses: Item['status'][]): number => items.filter((i) => statuses.includes(i.status)).length;
      expect(wave.counters, 'I3: counters equal a recount').toEqual({
        total: items.length,
        done: count('completed'),
        in_progress: count('in_progress'),
        pending: count('pending', 'retrying'),
        failed: count('failed'),
        skipped: count('skipped'),
      });
      const { total, skipped, in_progress } = wave.counters;
      if (wave.source !== 'manual')
        expect(in_progress, 'I2: in progress is within the slots').toBeLessThanOrEqual(slotsOf(total - skipped, percent));
    }
    const running = all.filter((i) => i.status === 'in_progress' && !i.forced);
    const gate = this.#gate();
    if (gate !== null) expect(running.length, 'I2: updating is within the gate').toBeLessThanOrEqual(gate);
    this.#onePerBlock(all);
    this.#terminalStays(all);
    for (const item of all) expect(item.tries, 'I7: attempts within the tries').toBeLessThanOrEqual(1 + maxRetries);
    this.#executedOnce();
    await this.#gateAddsUp(all);
    await this.#placesMatch(all);
  }

  #onePerBlock(all: readonly Item[]): void {
    const active = all.filter((i) => !TERMINAL_ITEM.includes(i.status)).map((i) => i.block);
    expect(active.length, 'I1: one active item per block').toBe(new Set(active).size);
  }

  #terminalStays(all: readonly Item[]): void {
    for (const item of all) {
      const before = this.#ended.get(item.id);
      if (before !== undefined) expect(item, 'I6: what has ended stays as it is').toEqual(before);
      if (TERMINAL_ITEM.includes(item.status)) this.#ended.set(item.id, item);
    }
  }

  /** Explicitly retried items may change again. */
  forget(items: readonly Item[]): void {
    for (const item of items) this.#ended.delete(item.id);
  }

  #executedOnce(): void {
    const runs = [...this.#world.hosts.values()].flatMap((host) => host.executed);
    expect(runs.length, 'I5: an attempt is executed once').toBe(new Set(runs).size);
  }

  async #gateAddsUp(all: readonly Item[]): Promise<void> {
    const updating = all.filter((i) => i.status === 'in_progress' && i.block_name === OPERATOR_BLOCK).length;
    expect(await this.#world.updating(), 'the gate counts what is in progress').toBe(updating);
  }

  /** The block's place is held by its active item, and by nobody when there is none. */
  async #placesMatch(all: readonly Item[]): Promise<void> {
    const { ids, objects } = this.#world.services;
    const blocks = [...this.#world.hosts.values()].map((host) => derivedId.block(ids, host.id, OPERATOR_BLOCK));
    const found = await this.#world.patient(() => objects.getMany('block', blocks));
    for (const id of blocks) {
      const active = all.find((i) => i.block === id && !TERMINAL_ITEM.includes(i.status));
      expect(found.get(id)?.active_item ?? null, 'the place is held by the active item').toBe(active?.id ?? null);
    }
  }

  /** SPEC I8: at the end nothing waits that could go on. */
  static allEnded(items: readonly Item[]): boolean {
    return items.every((i) => TERMINAL_ITEM.includes(i.status));
  }
}
