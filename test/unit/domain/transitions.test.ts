import { describe, expect, it } from 'vitest';
import { OPEN_RUN, RUN_TRANSITIONS, runTransition, TERMINAL_RUN } from '../../../lib/domain/action-run/transitions.ts';
import { ACTIVE_ITEM, ITEM_TRANSITIONS, itemTransition, TERMINAL_ITEM } from '../../../lib/domain/item/transitions.ts';
import { eventsFrom, statesBefore } from '../../../lib/domain/shared/state-machine.ts';
import { OPEN_WAVE, TERMINAL_WAVE, WAVE_TRANSITIONS, waveTransition } from '../../../lib/domain/wave/transitions.ts';

describe('waves (SPEC §3.2, §3.5, §3.9)', () => {
  it('only an explicit retry leaves completed and cancelled', () => {
    expect([...TERMINAL_WAVE].sort()).toEqual(['cancelled', 'completed']);
    expect(eventsFrom(WAVE_TRANSITIONS, 'completed')).toEqual(['retry']);
    expect(eventsFrom(WAVE_TRANSITIONS, 'cancelled')).toEqual(['retry']);
  });

  it('blocked is sticky: cancel, resume or retry end it, never pause or complete', () => {
    expect(eventsFrom(WAVE_TRANSITIONS, 'blocked').sort()).toEqual(['cancel', 'resume', 'retry']);
    expect(waveTransition('blocked', 'complete').ok).toBe(false);
    expect(waveTransition('blocked', 'pause').ok).toBe(false);
  });

  it('active and paused waves are blocked and completed alike', () => {
    for (const state of ['active', 'paused'] as const) {
      expect(waveTransition(state, 'block')).toEqual({ ok: true, to: 'blocked' });
      expect(waveTransition(state, 'complete')).toEqual({ ok: true, to: 'completed' });
    }
  });

  it('items join waves that are active, paused or blocked', () => {
    expect(OPEN_WAVE).toEqual(['active', 'paused', 'blocked']);
    expect(OPEN_WAVE.filter((s) => TERMINAL_WAVE.includes(s))).toEqual([]);
  });

  it('a refusal says what would be possible', () => {
    expect(waveTransition('completed', 'pause')).toEqual({
      ok: false,
      code: 'invalid_transition',
      detail: '"pause" is not possible when completed; possible: retry',
    });
  });
});

describe('items (SPEC §3.6, §3.9, I6)', () => {
  it('active and terminal states are all there are, and none is both', () => {
    expect([...TERMINAL_ITEM].sort()).toEqual(['completed', 'failed', 'skipped']);
    expect([...ACTIVE_ITEM, ...TERMINAL_ITEM].sort()).toEqual(['completed', 'failed', 'in_progress', 'pending', 'retrying', 'skipped']);
  });

  it('what the engine does by itself never leaves a terminal state', () => {
    const automatic = ['dispatch', 'succeed', 'fail_attempt_with_tries', 'fail_final', 'skip', 'withdraw', 'stop'] as const;
    for (const state of TERMINAL_ITEM)
      for (const event of automatic) expect(itemTransition(state, event).ok, `${state} ${event}`).toBe(false);
  });

  it('a person may retry or write off a failed item, and nothing else that has ended', () => {
    expect(itemTransition('failed', 'retry')).toEqual({ ok: true, to: 'pending' });
    expect(itemTransition('failed', 'skip_failed')).toEqual({ ok: true, to: 'skipped' });
    expect(eventsFrom(ITEM_TRANSITIONS, 'completed')).toEqual([]);
    expect(eventsFrom(ITEM_TRANSITIONS, 'skipped')).toEqual([]);
  });

  it('a running item is stopped, never simply skipped', () => {
    expect(itemTransition('in_progress', 'skip').ok).toBe(false);
    expect(itemTransition('in_progress', 'stop')).toEqual({ ok: true, to: 'skipped' });
  });

  it('a withdrawn run leads back to pending', () => {
    expect(itemTransition('in_progress', 'withdraw')).toEqual({ ok: true, to: 'pending' });
  });

  it('dispatch comes from waiting states only', () => {
    expect(statesBefore(ITEM_TRANSITIONS, 'dispatch').sort()).toEqual(['pending', 'retrying']);
  });
});

describe('runs (SPEC §7)', () => {
  it('an ended attempt stays as it is', () => {
    expect([...TERMINAL_RUN].sort()).toEqual(['cancelled', 'failed', 'success']);
    for (const state of TERMINAL_RUN) expect(eventsFrom(RUN_TRANSITIONS, state)).toEqual([]);
  });

  it('only an unclaimed run is withdrawn, only a claimed one fails by its exit code', () => {
    expect(statesBefore(RUN_TRANSITIONS, 'withdraw')).toEqual(['pending']);
    expect(statesBefore(RUN_TRANSITIONS, 'fail')).toEqual(['running']);
  });

  it('a second claim is no transition', () => {
    expect(runTransition('running', 'claim').ok).toBe(false);
  });

  it('every open run can time out, be cancelled, and succeed by a report', () => {
    for (const state of OPEN_RUN) {
      expect(runTransition(state, 'time_out')).toEqual({ ok: true, to: 'failed' });
      expect(runTransition(state, 'cancel')).toEqual({ ok: true, to: 'cancelled' });
      expect(runTransition(state, 'succeed')).toEqual({ ok: true, to: 'success' });
    }
  });
});

describe.each([
  ['waves', WAVE_TRANSITIONS],
  ['items', ITEM_TRANSITIONS],
  ['runs', RUN_TRANSITIONS],
])('table of %s', (_name, table) => {
  it('answers one state and event with one state', () => {
    const keys = table.map((t) => `${t.from} ${t.event}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
