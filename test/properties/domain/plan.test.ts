import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Plan, PlanFacts } from '../../../lib/domain/plan/facts.ts';
import { holdsOf, INBOX_SIZE, isHolding } from '../../../lib/domain/plan/holds.ts';
import { plan } from '../../../lib/domain/plan/plan.ts';
import { DAY } from '../../../lib/domain/shared/time.ts';
import { blockReason } from '../../../lib/domain/wave/brake.ts';
import { addsUp, baseOf } from '../../../lib/domain/wave/counters.ts';
import { slotsOf } from '../../../lib/domain/wave/slots.ts';
import { waveTransition } from '../../../lib/domain/wave/transitions.ts';
import { carriedOut, planFacts, readable } from '../../support/plan-arbitraries.ts';
import { NOW } from '../../support/plan-facts.ts';

const RUNS = { numRuns: Math.max(1_000, fc.readConfigureGlobal().numRuns ?? 0) };
const always = (holds: (f: PlanFacts, p: Plan) => void) =>
  fc.assert(
    fc.property(planFacts, (f) => {
      holds(f, plan(f, NOW));
    }),
    RUNS,
  );
const orders = (p: Plan) => p.dispatch.length + p.park.length + p.lane.length + p.skip.length;

describe('every plan', () => {
  it('I2 never has more in progress than slots after it, except what ran before', () => {
    always((f, p) => {
      const after = carriedOut(f, p, NOW);
      const limit = slotsOf(baseOf(after.wave.counters), f.rules.max_concurrent_percent);
      if (p.dispatch.length > 0) expect(after.wave.counters.in_progress + f.older_in_progress).toBeLessThanOrEqual(limit);
    });
  });

  it('I2 never has more updating than places of the gate, forced ones and what ran before apart', () => {
    always((f, p) => {
      const unforced = p.dispatch.filter((d) => !d.forced);
      if (f.gate !== null && unforced.length > 0) expect(f.gate.updating + p.dispatch.length).toBeLessThanOrEqual(f.gate.places);
    });
  });

  it('I3 keeps the counters adding up', () => {
    always((f, p) => expect(addsUp(carriedOut(f, p, NOW).wave.counters)).toBe(true));
  });

  it('I4 starts nothing that something holds', () => {
    always((f, p) => {
      if (p.dispatch.length > 0) expect(p.status?.to ?? f.wave.status).toBe('active');
      const started = new Set(p.dispatch.map((d) => d.item.id));
      for (const c of f.candidates.filter((x) => started.has(x.item.id))) expect(holdsOf(f, c, NOW).filter(isHolding)).toEqual([]);
    });
  });

  it('orders each item at most once, and only items it was given', () => {
    always((f, p) => {
      const ids = [...p.dispatch, ...p.park, ...p.lane, ...p.skip].map((o) => o.item.id);
      expect(new Set(ids).size).toBe(ids.length);
      const known = new Set(f.candidates.map((c) => c.item.id));
      expect(ids.filter((id) => !known.has(id))).toEqual([]);
    });
  });

  it('gives no agent more than its inbox holds', () => {
    always((f, p) => {
      for (const { target } of carriedOut(f, p, NOW).candidates) {
        if (!('missing' in target.agent)) expect(target.agent.inbox_size).toBeLessThanOrEqual(INBOX_SIZE);
      }
    });
  });

  it('is the same for the same facts in any order', () => {
    const shuffled = planFacts.chain((f) =>
      fc
        .tuple(
          fc.shuffledSubarray([...f.candidates], { minLength: f.candidates.length }),
          fc.shuffledSubarray([...f.calendars], { minLength: f.calendars.length }),
        )
        .map(([candidates, calendars]) => ({ f, g: { ...f, candidates, calendars } })),
    );
    fc.assert(
      fc.property(shuffled, ({ f, g }) => {
        expect(plan(g, NOW)).toEqual(plan(f, NOW));
      }),
      RUNS,
    );
  });

  it('leaves nothing to order at the same instant once it was carried out', () => {
    always((f, p) => expect(orders(plan(carriedOut(f, p, NOW), NOW))).toBe(0));
  });

  it('comes to rest: no more than a few plans in a row without an await or an end', () => {
    fc.assert(
      fc.property(planFacts.map(readable), (f) => {
        let now = f;
        for (let turn = 0; turn < 4; turn += 1) {
          const p = plan(now, NOW);
          if (p.next !== 'dispatch' && p.next !== 'replan') return;
          now = carriedOut(now, p, NOW);
        }
        throw new Error('still planning after four turns');
      }),
      RUNS,
    );
  });

  it('I8 names a time to look again: later than now, within a day', () => {
    always((_f, p) => {
      expect(p.recheck_at).toBeGreaterThan(NOW);
      expect(p.recheck_at).toBeLessThanOrEqual(NOW + DAY);
    });
  });

  it('I8 parks until a time that is still to come', () => {
    always((_f, p) => {
      for (const o of p.park) expect(o.until).toBeGreaterThan(NOW);
      if (p.park.length > 0 && p.next === 'replan') expect(p.recheck_at).toBeLessThanOrEqual(Math.min(...p.park.map((o) => o.until)) + DAY);
    });
  });

  it('I8 every waiting item that it leaves, and does not plan for again at once, has a reason', () => {
    always((f, p) => {
      if (p.next === 'replan') return;
      const after = carriedOut(f, p, NOW);
      for (const c of after.candidates) {
        const reasons = holdsOf(after, c, NOW).filter(isHolding);
        if (after.wave.status !== 'completed') expect(reasons, `${c.item.id} in a wave that is ${after.wave.status}`).not.toEqual([]);
      }
    });
  });

  it('changes the status only along the table, and never of a wave that is over or blocked', () => {
    const event = { paused: 'hold_for_review', blocked: 'block', completed: 'complete' } as const;
    always((f, p) => {
      if (p.status === null) return;
      const to = p.status.to;
      if (to === 'active' || to === 'cancelled') throw new Error(`a plan never makes a wave ${to}`);
      expect(waveTransition(f.wave.status, event[to])).toEqual({ ok: true, to });
    });
  });

  it('orders nothing in a blocked wave, and starts nothing in a cancelled one', () => {
    always((f, p) => {
      if ((p.status?.to ?? f.wave.status) === 'blocked') expect(orders(p)).toBe(0);
      if (f.wave.status === 'cancelled') expect(p.dispatch).toEqual([]);
    });
  });

  it('more failures never un-block', () => {
    const failing = (f: PlanFacts, more: number): PlanFacts => {
      const c = f.wave.counters;
      const moved = Math.min(more, c.pending);
      return { ...f, wave: { ...f.wave, counters: { ...c, failed: c.failed + moved, pending: c.pending - moved } } };
    };
    fc.assert(
      fc.property(planFacts, fc.nat(30), (f, more) => {
        if (blockReason(f.wave.counters, f.rules) !== 'failure_threshold') return;
        expect(blockReason(failing(f, more).wave.counters, f.rules)).toBe('failure_threshold');
        expect(plan(failing(f, more), NOW).dispatch).toEqual([]);
      }),
      RUNS,
    );
  });

  it('one more failure in place of a success never un-blocks either, whichever brake it was', () => {
    always((f) => {
      const c = f.wave.counters;
      if (c.done === 0 || blockReason(c, f.rules) === null) return;
      expect(blockReason({ ...c, done: c.done - 1, failed: c.failed + 1 }, f.rules)).not.toBeNull();
    });
  });
});
