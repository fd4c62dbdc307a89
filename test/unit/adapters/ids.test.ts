import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SystemIds } from '../../../lib/adapters/system/ids.ts';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const at = (time: { now: number }) => new SystemIds({ now: () => time.now, until: async () => undefined });
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
const parent = fc.uuid({ version: 7 });

test('fresh ids are UUIDs v7 of the clock, unique, and sort as they were made even when the clock stands still or steps back', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 200 }), (steps) => {
      const time = { now: Date.UTC(2026, 2, 1) };
      const ids = at(time);
      const made = steps.map((step) => {
        time.now += step;
        return ids.fresh();
      });
      for (const id of made) expect(id).toMatch(V7);
      expect(new Set(made).size).toBe(made.length);
      expect([...made].sort()).toEqual(made);
    }),
  );
});

test('ten thousand ids within one millisecond stay in order and unique', () => {
  const ids = at({ now: 1_000 });
  const made = Array.from({ length: 10_000 }, () => ids.fresh());
  expect(new Set(made).size).toBe(10_000);
  expect([...made].sort()).toEqual(made);
  expect(timeOf(made[0] ?? '')).toBe(1_000);
});

test("a child's id is always the same, carries its parent's time, and differs for every parent, type and name", () => {
  const ids = at({ now: 5 });
  fc.assert(
    fc.property(parent, parent, fc.string(), fc.string(), (a, b, name, other) => {
      const id = ids.child(a, 'block', name);
      expect(id).toMatch(V7);
      expect(at({ now: 99 }).child(a, 'block', name)).toBe(id);
      expect(timeOf(id)).toBe(timeOf(a));
      expect(ids.child(a, 'app', name)).not.toBe(id);
      if (a !== b) expect(ids.child(b, 'block', name)).not.toBe(id);
      if (name !== other) expect(ids.child(a, 'block', other)).not.toBe(id);
    }),
  );
});
