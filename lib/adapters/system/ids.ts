import { hash, randomFillSync } from 'node:crypto';
import type { Clock, Ids } from '../../app/ports.ts';

const COUNTER_LIMIT = 0x1000;

/**
 * UUID v7 (RFC 9562): 48 bits of time, a 12-bit counter so that ids of one process sort as they were made, 62 random bits.
 * When the clock stands still or goes back, the counter carries into the time.
 */
export class SystemIds implements Ids {
  readonly #clock: Clock;
  readonly #random = Buffer.alloc(8 * 256);
  #used = this.#random.length;
  #time = 0;
  #counter = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  fresh(): string {
    const now = this.#clock.now();
    if (now > this.#time) {
      this.#time = now;
      this.#counter = this.#take(2).readUInt16BE() & 0x3ff;
    } else if (++this.#counter === COUNTER_LIMIT) {
      this.#time += 1;
      this.#counter = 0;
    }
    return layout(this.#time.toString(16).padStart(12, '0'), this.#counter, this.#take(8));
  }

  child(parent: string, type: string, name: string): string {
    const hashed = hash('sha256', `${parent}|${type}|${name}`, 'buffer');
    return layout(parent.replaceAll('-', '').slice(0, 12), hashed.readUInt16BE(8) & 0xfff, hashed.subarray(0, 8));
  }

  #take(bytes: number): Buffer {
    if (this.#used + bytes > this.#random.length) {
      randomFillSync(this.#random);
      this.#used = 0;
    }
    this.#used += bytes;
    return this.#random.subarray(this.#used - bytes, this.#used);
  }
}

/** time (48 bits), version 7, 12 bits, variant 10, 62 bits. */
function layout(time: string, twelve: number, eight: Buffer): string {
  const rest = eight.toString('hex');
  const variant = ((eight[0] ?? 0) & 0x3f) | 0x80;
  return `${time.slice(0, 8)}-${time.slice(8)}-7${twelve.toString(16).padStart(3, '0')}-${variant.toString(16)}${rest.slice(2, 4)}-${rest.slice(4)}`;
}
