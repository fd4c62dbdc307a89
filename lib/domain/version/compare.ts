// By their own files: the package's index brings ranges along, which nothing here has.
import type { SemVer } from 'semver';
import compare from 'semver/functions/compare.js';
import parse from 'semver/functions/parse.js';

export type VersionVerdict = 'upgrade' | 'up_to_date' | 'installed_is_newer' | 'first_install' | 'downgrade';

/** True for a strict semantic version, after one optional small leading `v` (SPEC §2.3). */
export function isSemver(text: string): boolean {
  return parseStrict(text) !== null;
}

/**
 * SPEC §2.3, the one rule that preview, dispatcher and dashboard share. Equal rank = up to date, except that two different
 * build parts (both present) are an upgrade. If either side is not semver: unequal texts = upgrade.
 */
export function compareVersions(installed: string | null, target: string, allowDowngrade: boolean): VersionVerdict {
  if (installed === null || installed === '') return 'first_install';
  const have = parseStrict(installed);
  const want = parseStrict(target);
  if (have === null || want === null) return installed === target ? 'up_to_date' : 'upgrade';
  const order = compare(want, have);
  if (order > 0) return 'upgrade';
  if (order < 0) return allowDowngrade ? 'downgrade' : 'installed_is_newer';
  return buildsDiffer(have, want) ? 'upgrade' : 'up_to_date';
}

function parseStrict(text: string): SemVer | null {
  const bare = text.startsWith('v') ? text.slice(1) : text;
  // semver itself trims blanks and takes a `v`; neither may be hidden in what is left.
  if (!/^\d/.test(bare) || bare !== bare.trim()) return null;
  return parse(bare);
}

function buildsDiffer(a: SemVer, b: SemVer): boolean {
  return a.build.length > 0 && b.build.length > 0 && a.build.join('.') !== b.build.join('.');
}
