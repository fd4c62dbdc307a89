import compareBuild from 'semver/functions/compare-build.js';
import valid from 'semver/functions/valid.js';
import { isSemver } from '../version/compare.ts';

export interface HistogramBar {
  /** null = unknown or not installed. */
  readonly version: string | null;
  readonly count: number;
}

/** SPEC §5: clusters per installed version, newest first, then texts that are not versions, then unknown. */
export function histogram(versions: Iterable<string | null>): HistogramBar[] {
  const counts = new Map<string | null, number>();
  for (const version of versions) {
    const key = version === null || version === '' ? null : version;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([version, count]) => ({ version, count })).sort((a, b) => compareBars(a.version, b.version));
}

function compareBars(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const [x, y] = [isSemver(a) ? valid(a) : null, isSemver(b) ? valid(b) : null];
  if (x !== null && y !== null) return compareBuild(bare(b), bare(a)) || (a < b ? -1 : 1);
  if (x === null && y === null) return a < b ? -1 : 1;
  return x === null ? 1 : -1;
}

function bare(version: string): string {
  return version.startsWith('v') ? version.slice(1) : version;
}
