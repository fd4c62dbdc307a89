/**
 * The whole part of `percent` percent of `n`. Multiplies before it divides, so that a share which is a whole number
 * comes out exactly (29 percent of 100 is 29, not 28.999…).
 */
export function shareOf(percent: number, n: number): number {
  return Math.floor((n * percent) / 100);
}
