import { describe, expect, it } from 'vitest';
import { compareVersions, isSemver } from '../../../../lib/domain/version/compare.ts';

describe('version rule (SPEC §2.3)', () => {
  it.each([
    ['2.0.0-rc.1', '2.0.0', 'upgrade'],
    ['1.9.0', '1.10.0', 'upgrade'],
    ['1.0.0-rc.9', '1.0.0-rc.10', 'upgrade'],
    ['2.0.0', '2.0.0-rc.2', 'installed_is_newer'],
    ['1.4.2', '1.4.1', 'installed_is_newer'],
    ['1.0.0-rc9', '1.0.0-rc10', 'installed_is_newer'],
  ])('B36 installed %s, target %s: %s', (installed, target, verdict) => {
    expect(compareVersions(installed, target, false)).toBe(verdict);
  });

  it.each([
    ['2.0.0', '2.0.0-rc.2'],
    ['1.4.2', '1.4.1'],
    ['1.0.0-rc9', '1.0.0-rc10'],
  ])('B36 installed %s, target %s is a downgrade, and called one, when that is allowed', (installed, target) => {
    expect(compareVersions(installed, target, true)).toBe('downgrade');
  });

  it.each([null, ''])('B40 an unknown version (%j) equals nothing', (installed) => {
    expect(compareVersions(installed, '1.0.0', false)).toBe('first_install');
  });

  it.each([
    ['v1.4.0', '1.4.0', 'up_to_date'],
    ['1.4.0', 'v1.4.0', 'up_to_date'],
    ['v1.4.0', 'v1.5.0', 'upgrade'],
    ['V1.2.3', '1.2.3', 'upgrade'],
    ['1.2.3', 'V1.2.3', 'upgrade'],
    ['V1.2.3', 'V1.2.3', 'up_to_date'],
    ['1.2', '1.2', 'up_to_date'],
    ['1.2.0', '1.2', 'upgrade'],
    ['1.3', '1.2', 'upgrade'],
    ['1.2.3', '01.2.3', 'upgrade'],
    ['1.2.3.4', '1.2.3.4', 'up_to_date'],
    ['latest', 'latest', 'up_to_date'],
    ['1.0.0', 'latest', 'upgrade'],
    ['latest', '1.0.0', 'upgrade'],
  ])('boundary 11: installed %s, target %s: %s', (installed, target, verdict) => {
    expect(compareVersions(installed, target, false)).toBe(verdict);
  });

  it.each([
    ['1.0.0+a', '1.0.0+b', 'upgrade'],
    ['1.0.0+b', '1.0.0+a', 'upgrade'],
    ['1.0.0+a.1', '1.0.0+a.2', 'upgrade'],
    ['1.0.0+a', '1.0.0+a', 'up_to_date'],
    ['1.0.0+a', '1.0.0', 'up_to_date'],
    ['1.0.0', '1.0.0+a', 'up_to_date'],
    ['1.0.1+a', '1.0.0+b', 'installed_is_newer'],
  ])('build parts count only when both are there: %s to %s is %s', (installed, target, verdict) => {
    expect(compareVersions(installed, target, false)).toBe(verdict);
  });

  it('texts that are not versions are never a downgrade', () => {
    expect(compareVersions('nightly-9', 'nightly-8', false)).toBe('upgrade');
    expect(compareVersions('nightly-9', 'nightly-8', true)).toBe('upgrade');
  });
});

describe('what is a version', () => {
  it.each(['1.4.0', 'v1.4.0', '0.0.0', '1.0.0-rc.1', '1.0.0+build.7', 'v1.0.0-a.b+c'])('%s is', (text) => {
    expect(isSemver(text)).toBe(true);
  });

  it.each([
    '',
    'v',
    'V1.2.3',
    'vv1.2.3',
    '=1.2.3',
    'v=1.2.3',
    '1.2',
    '01.2.3',
    '1.2.3.4',
    'latest',
    ' 1.2.3',
    '1.2.3 ',
    'v 1.2.3',
    '1.2.3\n',
    '1.2.x',
    '^1.2.3',
    '1.0.0-01',
    '99999999999999999999.0.0',
  ])('boundary 11: %j is not', (text) => {
    expect(isSemver(text)).toBe(false);
  });
});
