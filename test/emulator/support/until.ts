import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until there is an answer. An emulator has no clock to move, so this waits for real, and only here. */
export async function until<T>(what: string, seconds: number, look: () => Promise<T | null | false>): Promise<T> {
  const end = performance.now() + seconds * 1_000;
  for (let last: unknown = null; ; ) {
    try {
      const found = await look();
      if (found !== null && found !== false) return found;
      last = null;
    } catch (error) {
      // The gateway may be busy for a moment; what stays wrong is told at the end.
      last = error;
    }
    if (performance.now() > end) throw new Error(`waited ${seconds} s for ${what} in vain${last === null ? '' : `: ${String(last)}`}`);
    await sleep(400);
  }
}
