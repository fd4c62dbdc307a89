import { describe, expect, it } from 'vitest';
import { gatePlaces } from '../../../../lib/domain/operator/gate.ts';
import { shareOf } from '../../../../lib/domain/shared/percent.ts';
import { freeSlots, slotsOf } from '../../../../lib/domain/wave/slots.ts';

describe('slots of a percentage (SPEC §3.4)', () => {
  it.each([
    [7, 100, 7],
    [14, 50, 7],
    [28, 25, 7],
    [29, 100, 29],
    [55, 100, 55],
    [57, 100, 57],
  ])('B03 %i%% of %i is exactly %i', (percent, n, slots) => {
    expect(shareOf(percent, n)).toBe(slots);
    expect(slotsOf(n, percent)).toBe(slots);
  });

  it.each([
    [1, 10, 1],
    [50, 1, 1],
    [10, 30, 3],
    [100, 7, 7],
    [0, 10, 0],
    [25, 10, 2],
  ])('boundary 8: %i%% of %i is %i, the same for slots and operator gate', (percent, n, slots) => {
    expect(slotsOf(n, percent)).toBe(slots);
    expect(gatePlaces(n, percent)).toBe(slots);
  });

  it('B01 a small percentage is neither nothing nor everything', () => {
    expect(slotsOf(10, 1)).toBe(1);
    expect(slotsOf(1, 1)).toBe(1);
    expect(slotsOf(100_000, 1)).toBe(1_000);
  });

  it('B02 zero percent lets nothing through, 25 of 8 lets two', () => {
    expect(gatePlaces(8, 0)).toBe(0);
    expect(gatePlaces(8, 25)).toBe(2);
  });

  it('there is no slot for nobody', () => {
    expect(slotsOf(0, 100)).toBe(0);
    expect(gatePlaces(0, 20)).toBe(0);
  });

  it('agrees with whole-number arithmetic for every percentage of every size up to 2,000', () => {
    for (let n = 1; n <= 2_000; n += 1) {
      for (let p = 1; p <= 100; p += 1) {
        const exact = Number((BigInt(n) * BigInt(p)) / 100n);
        if (slotsOf(n, p) !== Math.max(1, exact)) throw new Error(`${p}% of ${n}: ${slotsOf(n, p)}, exactly ${exact}`);
      }
    }
  });
});

describe('free slots', () => {
  it.each([
    [{ slots: 3, in_progress: 0, older_in_progress: 0 }, 3],
    [{ slots: 3, in_progress: 2, older_in_progress: 0 }, 1],
    [{ slots: 3, in_progress: 1, older_in_progress: 1 }, 1],
    [{ slots: 3, in_progress: 1, older_in_progress: 2 }, 0],
    [{ slots: 3, in_progress: 3, older_in_progress: 0 }, 0],
  ])('%j leaves %i', (use, free) => {
    expect(freeSlots(use)).toBe(free);
  });

  it('B06 a lowered limit leaves none and takes none away', () => {
    expect(freeSlots({ slots: 2, in_progress: 6, older_in_progress: 0 })).toBe(0);
  });
});
