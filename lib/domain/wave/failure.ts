import { shareOf } from '../shared/percent.ts';

/** SPEC §3.5: share of failed items of `total − skipped`, as a percentage 0–100; 0 when there is no base. */
export function failureRate(failed: number, base: number): number {
  return base <= 0 ? 0 : (failed * 100) / base;
}

/** Strictly above, in whole numbers (SPEC §3.5). */
export function isAboveThreshold(failed: number, base: number, threshold: number): boolean {
  return base > 0 && failed * 100 > threshold * base;
}

/** The largest number of failed items that is not above the threshold. */
export function maxFailed(base: number, threshold: number): number {
  return base <= 0 ? 0 : shareOf(threshold, base);
}
