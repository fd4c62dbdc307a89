import type { Clock } from '../../app/ports.ts';

/** setTimeout fires at once above 2^31 − 1 ms (24.8 days), so longer waits are cut. */
const LONGEST_TIMER = 2_147_483_647;

/** The machine's own time. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  async until(at: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    while (Date.now() < at) await pause(Math.min(at - Date.now(), LONGEST_TIMER), signal);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
