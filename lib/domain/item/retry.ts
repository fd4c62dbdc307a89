import { HOUR, type Millis, SECOND } from '../shared/time.ts';

const LONGEST: Millis = HOUR;
const JITTER = 0.1;

/**
 * SPEC §3.6: the wait before the attempt that follows the n-th failure (n from 1): `base × 2^(n−1)`, at most 1 h, ± 10 %.
 * `jitter01` in [0, 1) is handed in; 0.5 means none.
 */
export function retryDelay(base_seconds: number, n: number, jitter01: number): Millis {
  // The exponent is capped because 0 × ∞ is not a number.
  const doubled = base_seconds * SECOND * 2 ** Math.min(Math.max(0, n - 1), 30);
  const factor = 1 - JITTER + 2 * JITTER * jitter01;
  return Math.round(Math.min(LONGEST, doubled) * factor);
}

/** SPEC §3.6: attempts = 1 + max_retries. How many are left after `tries` were used. */
export function triesLeft(tries: number, max_retries: number): number {
  return Math.max(0, 1 + max_retries - tries);
}
