import type { Clock } from '../lib/app/ports.ts';
import type { Activity } from './activity.ts';

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * A clock that only moves when told to (`--virtual-clock`, scenario tests). Between two instants at which somebody wants to be woken,
 * it waits until the whole system is idle again, so that everything happens in the order of its time.
 */
export class VirtualClock implements Clock {
  readonly #activity: Activity;
  #now: number;
  /** Ascending by time; those of one instant in the order in which they were asked for. */
  readonly #timers: Timer[] = [];
  #moving: Promise<unknown> = Promise.resolve();

  constructor(start: number, activity: Activity) {
    this.#now = start;
    this.#activity = activity;
  }

  now(): number {
    return this.#now;
  }

  async until(at: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (at <= this.#now) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer: Timer = { at, fire: resolve };
    const onAbort = () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
      reject(signal?.reason);
    };
    this.#timers.splice(this.#placeOf(at), 0, timer);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Resolves when everything due up to then has been done. One move after the other; a time in the past is refused. */
  advance(to: number): Promise<void> {
    return this.#inTurn(() => this.#move(to));
  }

  /** The same from where the clock stands when the moves before it are over: two at once add up. */
  advanceBy(ms: number): Promise<void> {
    return this.#inTurn(() => this.#move(this.#now + ms));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const move = this.#moving.then(work);
    this.#moving = move.catch(() => undefined);
    return move;
  }

  async #move(to: number): Promise<void> {
    if (to < this.#now) throw new RangeError(`The clock cannot go back from ${iso(this.#now)} to ${iso(to)}.`);
    await this.#activity.idle();
    for (let next = this.#timers[0]; next !== undefined && next.at <= to; next = this.#timers[0]) {
      this.#now = next.at;
      const due = this.#timers.splice(0, this.#placeOf(next.at));
      for (const timer of due) timer.fire();
      await this.#activity.idle();
    }
    this.#now = to;
    await this.#activity.idle();
  }

  /** Index behind all timers up to and with this time. */
  #placeOf(at: number): number {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#timers[middle]?.at ?? Number.POSITIVE_INFINITY) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const iso = (at: number): string => new Date(at).toISOString();
