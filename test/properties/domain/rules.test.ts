import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RUN_TRANSITIONS, runTransition, TERMINAL_RUN } from '../../../lib/domain/action-run/transitions.ts';
import { matches, parseSelector, type Requirement } from '../../../lib/domain/demand/scope.ts';
import { compareOrder, dispatchKey } from '../../../lib/domain/item/order.ts';
import { retryDelay, triesLeft } from '../../../lib/domain/item/retry.ts';
import { ITEM_TRANSITIONS, type ItemEvent, itemTransition, TERMINAL_ITEM } from '../../../lib/domain/item/transitions.ts';
import type { ItemStatus, RunStatus } from '../../../lib/domain/shared/rollout.ts';
import { eventsFrom } from '../../../lib/domain/shared/state-machine.ts';
import { HOUR } from '../../../lib/domain/shared/time.ts';
import { compareVersions, isSemver } from '../../../lib/domain/version/compare.ts';
import { earlyBrake, wilsonLower } from '../../../lib/domain/wave/brake.ts';
import { addsUp, countersOf } from '../../../lib/domain/wave/counters.ts';
import { isAboveThreshold, maxFailed } from '../../../lib/domain/wave/failure.ts';
import { slotsOf } from '../../../lib/domain/wave/slots.ts';

const percent = fc.integer({ min: 1, max: 100 });
const size = fc.integer({ min: 1, max: 1_000_000 });

describe('versions', () => {
  const part = fc.nat(30);
  const pre = fc.option(fc.array(fc.oneof(fc.nat(20).map(String), fc.constantFrom('rc', 'rc1', 'alpha')), { minLength: 1, maxLength: 3 }), {
    nil: null,
  });
  const semver = fc
    .tuple(fc.constantFrom('', 'v'), part, part, part, pre)
    .map(([v, a, b, c, p]) => `${v}${a}.${b}.${c}${p === null ? '' : `-${p.join('.')}`}`);

  it('two versions are equal, or one is an upgrade and the other way round it is not', () => {
    fc.assert(
      fc.property(semver, semver, (a, b) => {
        const there = compareVersions(a, b, false);
        const back = compareVersions(b, a, false);
        const mirror = { upgrade: 'installed_is_newer', installed_is_newer: 'upgrade', up_to_date: 'up_to_date' } as const;
        if (there === 'first_install' || there === 'downgrade') throw new Error(`${a} to ${b}: ${there}`);
        expect(back).toBe(mirror[there]);
      }),
    );
  });

  it('after the upgrade there is nothing left to do, whatever the texts', () => {
    fc.assert(
      fc.property(fc.oneof(semver, fc.string({ minLength: 1 })), (target) => {
        expect(compareVersions(target, target, false)).toBe('up_to_date');
      }),
    );
  });

  it('the small v makes no difference to versions', () => {
    fc.assert(
      fc.property(semver, (text) => {
        const bare = text.replace(/^v/, '');
        expect(isSemver(bare) && isSemver(`v${bare}`)).toBe(true);
        expect(compareVersions(`v${bare}`, bare, false)).toBe('up_to_date');
      }),
    );
  });
});

describe('percentages', () => {
  it('slots: at least one, never more than all, never fewer when there is more', () => {
    fc.assert(
      fc.property(size, percent, (n, p) => {
        const slots = slotsOf(n, p);
        expect(slots).toBeGreaterThanOrEqual(1);
        expect(slots).toBeLessThanOrEqual(n);
        expect(slotsOf(n + 1, p)).toBeGreaterThanOrEqual(slots);
        if (p < 100) expect(slotsOf(n, p + 1)).toBeGreaterThanOrEqual(slots);
        else expect(slots).toBe(n);
      }),
    );
  });

  it('maxFailed is the last count that is not above the threshold', () => {
    fc.assert(
      fc.property(size, fc.integer({ min: 0, max: 100 }), (base, threshold) => {
        const most = maxFailed(base, threshold);
        expect(isAboveThreshold(most, base, threshold)).toBe(false);
        expect(isAboveThreshold(most + 1, base, threshold)).toBe(true);
      }),
    );
  });

  it('the lower bound lies under the share, and grows with the failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.nat(10_000), (finished, some) => {
        const failed = some % finished;
        expect(wilsonLower(failed, finished)).toBeGreaterThanOrEqual(0);
        expect(wilsonLower(failed, finished)).toBeLessThanOrEqual(failed / finished);
        expect(wilsonLower(failed + 1, finished)).toBeGreaterThan(wilsonLower(failed, finished));
        if (earlyBrake(failed, finished, 20)) expect(earlyBrake(failed + 1, finished, 20)).toBe(true);
      }),
    );
  });
});

describe('order', () => {
  const facts = fc.record({
    forced: fc.boolean(),
    in_maintenance: fc.boolean(),
    criticality: fc.constantFrom('high' as const, 'medium' as const, 'low' as const),
    enqueued_at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    id: fc.uuid(),
  });

  it('is total, and the key sorts bytewise as the rule says', () => {
    const rank = { high: 0, medium: 1, low: 2 };
    fc.assert(
      fc.property(facts, facts, (a, b) => {
        const byRule =
          Number(b.forced) - Number(a.forced) ||
          Number(b.in_maintenance) - Number(a.in_maintenance) ||
          rank[a.criticality] - rank[b.criticality] ||
          a.enqueued_at - b.enqueued_at ||
          (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
        expect(Math.sign(compareOrder(a, b))).toBe(Math.sign(byRule));
        expect(compareOrder(a, b)).toBe(-compareOrder(b, a) || 0);
        expect(dispatchKey(a)).toMatch(/^[\x20-\x7e]+$/);
      }),
    );
  });
});

describe('retries', () => {
  it('the wait is never shorter than the one before, but for the jitter, and never above an hour and a tenth', () => {
    fc.assert(
      fc.property(fc.nat(3_600), fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (base, n, jitter) => {
        expect(retryDelay(base, n + 1, jitter)).toBeGreaterThanOrEqual(retryDelay(base, n, jitter));
        expect(retryDelay(base, n, jitter)).toBeLessThanOrEqual(1.1 * HOUR);
        expect(Number.isInteger(retryDelay(base, n, jitter))).toBe(true);
      }),
    );
  });
});

describe('state machines', () => {
  const anyItemEvent = fc.constantFrom(...new Set(ITEM_TRANSITIONS.map((t) => t.event)));
  const byPerson: readonly ItemEvent[] = ['retry', 'skip_failed'];

  it('I6 terminal items absorb every event that is no decision of a person', () => {
    fc.assert(
      fc.property(fc.array(anyItemEvent, { maxLength: 30 }), (events) => {
        let state: ItemStatus = 'pending';
        for (const event of events) {
          const moved = itemTransition(state, event);
          if (moved.ok && TERMINAL_ITEM.includes(state)) expect(byPerson).toContain(event);
          if (moved.ok) state = moved.to;
        }
      }),
    );
  });

  it('I5 a run ends at most once, whatever is said after', () => {
    const anyRunEvent = fc.constantFrom(...new Set(RUN_TRANSITIONS.map((t) => t.event)));
    fc.assert(
      fc.property(fc.array(anyRunEvent, { maxLength: 20 }), (events) => {
        let state: RunStatus = 'pending';
        let ends = 0;
        for (const event of events) {
          const moved = runTransition(state, event);
          if (!moved.ok) continue;
          state = moved.to;
          if (TERMINAL_RUN.includes(state)) ends += 1;
        }
        expect(ends).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('I3 I7 counters moved with each transition equal a recount, and no item has more attempts than its tries', () => {
    const retries = fc.nat(4);
    fc.assert(
      fc.property(retries, fc.array(fc.tuple(fc.nat(4), fc.nat(10)), { maxLength: 200 }), (max_retries, moves) => {
        const items = Array.from({ length: 5 }, () => ({ status: 'pending' as ItemStatus, tries: 0, attempts: 0 }));
        const stored = { total: 5, started: 0, ended: 0, done: 0, failed: 0, skipped: 0 };
        for (const [which, choice] of moves) {
          const item = items[which];
          if (item !== undefined) step(item, stored, choice, max_retries);
          expect(countersOf(stored)).toEqual(recount(items));
          expect(addsUp(countersOf(stored))).toBe(true);
        }
        for (const item of items) expect(item.attempts).toBeLessThanOrEqual(1 + max_retries);
      }),
    );
  });
});

interface Walked {
  status: ItemStatus;
  tries: number;
  attempts: number;
}

/** One possible event of an item, with what it does to the stored counters. */
function step(item: Walked, stored: Parameters<typeof countersOf>[0] & Record<string, number>, choice: number, max_retries: number): void {
  const possible = eventsFrom(ITEM_TRANSITIONS, item.status).filter((e) => {
    const more = triesLeft(item.tries + 1, max_retries) > 0;
    return e === 'fail_attempt_with_tries' ? more : e === 'fail_final' ? !more : true;
  });
  const event = possible[choice % Math.max(1, possible.length)];
  if (event === undefined) return;
  const from = item.status;
  const moved = itemTransition(from, event);
  if (!moved.ok) throw new Error(moved.detail);
  item.status = moved.to;
  const add = (key: string, n: number) => {
    stored[key] = (stored[key] ?? 0) + n;
  };
  if (event === 'dispatch') add('started', 1);
  if (from === 'in_progress') add('ended', 1);
  if (from === 'failed') add('failed', -1);
  if (moved.to === 'completed') add('done', 1);
  if (moved.to === 'failed') add('failed', 1);
  if (moved.to === 'skipped') add('skipped', 1);
  if (event === 'fail_attempt_with_tries' || event === 'fail_final') {
    item.tries += 1;
    item.attempts += 1;
  }
  if (event === 'retry') Object.assign(item, { tries: 0, attempts: 0 });
}

function recount(items: readonly Walked[]) {
  const of = (...wanted: ItemStatus[]) => items.filter((i) => wanted.includes(i.status)).length;
  return {
    total: items.length,
    done: of('completed'),
    in_progress: of('in_progress'),
    pending: of('pending', 'retrying'),
    failed: of('failed'),
    skipped: of('skipped'),
  };
}

describe('selectors', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9./_-]{0,8}$/);
  const requirement: fc.Arbitrary<Requirement> = fc.oneof(
    fc.record({ key: word, op: fc.constantFrom('exists' as const, 'missing' as const) }),
    fc.record({ key: word, op: fc.constantFrom('in' as const, 'notin' as const), values: fc.array(word, { minLength: 1, maxLength: 3 }) }),
    fc.record({ key: word, op: fc.constantFrom('gt' as const, 'lt' as const), value: fc.integer({ min: -999, max: 999 }) }),
  );
  const written = (r: Requirement): string => {
    switch (r.op) {
      case 'exists':
        return r.key;
      case 'missing':
        return `!${r.key}`;
      case 'in':
      case 'notin':
        return `${r.key} ${r.op} (${r.values.join(', ')})`;
      case 'gt':
        return `${r.key} > ${r.value}`;
      case 'lt':
        return `${r.key} < ${r.value}`;
    }
  };

  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(requirement, { minLength: 1, maxLength: 4 }), (all) => {
        expect(parseSelector(all.map(written).join(','))).toEqual({ ok: true, selector: all });
      }),
    );
  });

  it('any text is read or refused at a place in it, never anything else', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('a', ' ', ',', '(', ')', '!', '=', 'in', '>', 'notin') }));
    fc.assert(
      fc.property(text, (t) => {
        const parsed = parseSelector(t);
        if (parsed.ok) expect(typeof matches(parsed.selector, { a: 'a' })).toBe('boolean');
        else expect(parsed.position >= 1 && parsed.position <= t.length + 1, `${parsed.position}`).toBe(true);
      }),
    );
  });

  it('in and notin, exists and missing are opposites for every object', () => {
    fc.assert(
      fc.property(word, fc.array(word, { minLength: 1 }), fc.dictionary(word, word), (key, values, labels) => {
        expect(matches([{ key, op: 'in', values }], labels)).not.toBe(matches([{ key, op: 'notin', values }], labels));
        expect(matches([{ key, op: 'exists' }], labels)).not.toBe(matches([{ key, op: 'missing' }], labels));
      }),
    );
  });
});
