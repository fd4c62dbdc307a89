import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedApps, packApps, unpackApps } from '../../../lib/app/agents/apps.ts';
import type { ReportedApp } from '../../../lib/app/agents/presence.ts';

const app = (name: string, installed_version: string | null = '1.0.0', state: ReportedApp['state'] = 'OK'): ReportedApp => ({
  name,
  installed_version,
  state,
});
const many = Array.from({ length: 60 }, (_, n) => app(`app-${n}`));
const anyApps = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z#.-]{1,20}$/),
    installed_version: fc.option(fc.stringMatching(/^[0-9.]{1,10}$/)),
    state: fc.constantFrom('OK' as const, 'WARNING' as const, 'CRITICAL' as const, null),
  }),
  { selector: ({ name }) => name, maxLength: 12 },
);

test('the same apps in any order are the same text, and come back whole', () => {
  fc.assert(
    fc.property(anyApps, (apps) => {
      const packed = packApps(apps);
      expect(packApps([...apps].reverse())).toBe(packed);
      const back = unpackApps(packed);
      if (back.complete)
        expect([...back.apps].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([...apps].sort((a, b) => (a.name < b.name ? -1 : 1)));
      expect(changedApps(packed, apps)).toEqual(back.complete ? [] : apps);
    }),
  );
});

test('a long list is a digest beside the operator, and any difference changes it', () => {
  const packed = packApps([...many, app('polycrate-operator', '0.34.0')]);
  expect(packed.length).toBeLessThan(120);
  expect(unpackApps(packed)).toEqual({ apps: [app('polycrate-operator', '0.34.0')], complete: false });
  expect(packApps([...many.slice(1), app('app-0', '1.0.1'), app('polycrate-operator', '0.34.0')])).not.toBe(packed);
  expect(changedApps(packed, many)).toEqual(many);
});

test('only what differs is changed; what is left out is not installed any more; before the first report everything is new', () => {
  const before = packApps([app('a'), app('b'), app('c')]);
  expect(changedApps(before, [app('a'), app('b', '1.1.0')])).toEqual([app('b', '1.1.0'), app('c', null)]);
  expect(changedApps(before, [app('a', '1.0.0', 'CRITICAL'), app('b'), app('c')])).toEqual([app('a', '1.0.0', 'CRITICAL')]);
  expect(changedApps(null, [app('a')])).toEqual([app('a')]);
  expect(packApps([])).toBe('');
  expect(unpackApps('')).toEqual({ apps: [], complete: true });
});
