import { describe, expect, it } from 'vitest';
import {
  afterExit,
  claimDeadline,
  needsVerification,
  type Observation,
  progressOf,
  type RunFacts,
  verificationStep,
} from '../../../../lib/domain/action-run/verification.ts';
import { MINUTE, SECOND } from '../../../../lib/domain/shared/time.ts';
import { NOW } from '../../../support/plan-facts.ts';

const run = (parts: Partial<RunFacts> = {}): RunFacts => ({
  action: 'install',
  phase: 'executing',
  verify: true,
  soak_seconds: 0,
  rendered_target_version: '1.1.0',
  version_at_dispatch: '1.0.0',
  deadline: NOW + 30 * MINUTE,
  ...parts,
});
const saw = (version: string | null, agent_state: Observation['agent_state'] = 'OK'): Observation => ({ report: { version }, agent_state });
const time = (agent_state: Observation['agent_state'] = 'OK'): Observation => ({ report: null, agent_state });
const STAY = { kind: 'stay' };

describe('the time to claim (SPEC §7)', () => {
  it.each([
    [60, 5 * MINUTE],
    [100, 5 * MINUTE],
    [101, 303 * SECOND],
    [600, 30 * MINUTE],
  ])('reports each %i s: %i ms', (interval, within) => {
    expect(claimDeadline(NOW, interval, null)).toBe(NOW + within);
  });

  it('ends with the window', () => {
    expect(claimDeadline(NOW, 60, NOW + MINUTE)).toBe(NOW + MINUTE);
    expect(claimDeadline(NOW, 60, NOW + 10 * MINUTE)).toBe(NOW + 5 * MINUTE);
  });
});

describe('what is verified (SPEC §7)', () => {
  const base = { verify_version: true, action: 'install', target_version: '1.1.0', app_reported: true };

  it.each([
    [true, {}],
    [false, { verify_version: false }],
    [false, { target_version: null }],
    [false, { app_reported: false }],
    [false, { action: 'backup' }],
    [true, { action: 'uninstall', target_version: null }],
  ])('%s: %j', (verified, parts) => {
    expect(needsVerification({ ...base, ...parts })).toBe(verified);
  });
});

describe('the exit code', () => {
  it('B19 zero is not yet success: ten minutes to show the version', () => {
    expect(afterExit(run(), 0, NOW)).toEqual({ kind: 'verifying', until: NOW + 10 * MINUTE });
  });

  it('zero is success where nothing is verified', () => {
    expect(afterExit(run({ verify: false }), 0, NOW)).toEqual({ kind: 'completed' });
  });

  it.each([1, 137, -1])('%i is a failed attempt', (code) => {
    expect(afterExit(run(), code, NOW)).toEqual({ kind: 'failed', reason: 'exit_code' });
  });

  it('a doubled or late result changes nothing', () => {
    expect(afterExit(run({ phase: 'verifying' }), 0, NOW)).toEqual(STAY);
    expect(afterExit(run({ phase: 'soaking' }), 0, NOW)).toEqual(STAY);
    expect(afterExit(run({ phase: 'ended' }), 0, NOW)).toEqual(STAY);
    expect(afterExit(run({ phase: 'ended' }), 1, NOW)).toEqual(STAY);
  });
});

describe('verifying (SPEC §7)', () => {
  const verifying = (parts: Partial<RunFacts> = {}) => run({ phase: 'verifying', deadline: NOW + 10 * MINUTE, ...parts });

  it('a report of the target completes it, or begins the soaking', () => {
    expect(verificationStep(verifying(), saw('1.1.0'), NOW)).toEqual({ kind: 'completed' });
    expect(verificationStep(verifying(), saw('v1.1.0'), NOW)).toEqual({ kind: 'completed' });
    expect(verificationStep(verifying({ soak_seconds: 60 }), saw('1.1.0'), NOW)).toEqual({ kind: 'soaking', until: NOW + MINUTE });
  });

  it('B19 reports of the old version until the time is over fail the attempt', () => {
    const at = NOW + 10 * MINUTE;
    expect(verificationStep(verifying(), saw('1.0.0'), at - 1)).toEqual(STAY);
    expect(verificationStep(verifying(), saw('1.0.0'), at)).toEqual({ kind: 'failed', reason: 'version_unchanged' });
    expect(verificationStep(verifying(), time(null), at)).toEqual({ kind: 'failed', reason: 'version_unchanged' });
  });

  it('the target shown at the last moment still counts', () => {
    expect(verificationStep(verifying(), saw('1.1.0'), NOW + 10 * MINUTE)).toEqual({ kind: 'completed' });
  });

  it('another build of the same version is not the target', () => {
    expect(verificationStep(verifying({ rendered_target_version: '1.1.0+b' }), saw('1.1.0+a'), NOW)).toEqual(STAY);
    expect(verificationStep(verifying({ rendered_target_version: '1.1.0+b' }), saw('1.1.0+b'), NOW)).toEqual({ kind: 'completed' });
  });

  it('an install of the version that was there is shown by the next report', () => {
    expect(verificationStep(verifying({ version_at_dispatch: '1.1.0' }), saw('1.1.0'), NOW)).toEqual({ kind: 'completed' });
  });
});

describe('a report while the agent has not finished yet (SPEC §7)', () => {
  it.each(['queued', 'executing'] as const)('counts as the result of a %s run if the version was another at dispatch', (phase) => {
    expect(verificationStep(run({ phase }), saw('1.1.0'), NOW)).toEqual({ kind: 'completed' });
    expect(verificationStep(run({ phase, version_at_dispatch: null }), saw('1.1.0'), NOW)).toEqual({ kind: 'completed' });
    expect(verificationStep(run({ phase, version_at_dispatch: '1.1.0' }), saw('1.1.0'), NOW)).toEqual(STAY);
    expect(verificationStep(run({ phase, version_at_dispatch: 'v1.1.0' }), saw('1.1.0'), NOW)).toEqual(STAY);
  });

  it('another version says nothing', () => {
    expect(verificationStep(run(), saw('1.0.5'), NOW)).toEqual(STAY);
    expect(verificationStep(run(), saw(null), NOW)).toEqual(STAY);
  });

  it('counts for nothing where nothing is verified', () => {
    expect(verificationStep(run({ verify: false }), saw('1.1.0'), NOW)).toEqual(STAY);
  });
});

describe('soaking (SPEC §7)', () => {
  const soaking = run({ phase: 'soaking', soak_seconds: 60, deadline: NOW + MINUTE });

  it('completes at its end when the agent stayed OK', () => {
    expect(verificationStep(soaking, saw('1.1.0'), NOW + MINUTE - 1)).toEqual(STAY);
    expect(verificationStep(soaking, saw('1.1.0'), NOW + MINUTE)).toEqual({ kind: 'completed' });
    expect(verificationStep(soaking, time(), NOW + MINUTE)).toEqual({ kind: 'completed' });
  });

  it('the clock restarts when it is not OK, also at the end', () => {
    expect(verificationStep(soaking, saw('1.1.0', 'WARNING'), NOW + MINUTE)).toEqual({ kind: 'soaking', until: NOW + 2 * MINUTE });
    expect(verificationStep(soaking, time(null), NOW + MINUTE)).toEqual({ kind: 'soaking', until: NOW + 2 * MINUTE });
  });

  it('CRITICAL fails the attempt', () => {
    expect(verificationStep(soaking, time('CRITICAL'), NOW)).toEqual({ kind: 'failed', reason: 'soak_failed' });
  });

  it('a version that went back is no success; a report without one is no news', () => {
    expect(verificationStep(soaking, saw('1.0.0'), NOW)).toEqual({ kind: 'failed', reason: 'version_unchanged' });
    expect(verificationStep(soaking, saw(null), NOW)).toEqual(STAY);
  });
});

describe('uninstall (SPEC §2.1)', () => {
  const uninstall = (phase: RunFacts['phase']) => run({ action: 'uninstall', phase, rendered_target_version: null });

  it('has succeeded when no version is reported any more', () => {
    expect(verificationStep(uninstall('verifying'), saw('1.0.0'), NOW)).toEqual(STAY);
    expect(verificationStep(uninstall('verifying'), time(), NOW)).toEqual(STAY);
    expect(verificationStep(uninstall('verifying'), saw(null), NOW)).toEqual({ kind: 'completed' });
    expect(verificationStep(uninstall('executing'), saw(null), NOW)).toEqual({ kind: 'completed' });
  });
});

describe('an ended run', () => {
  it.each([saw('1.1.0'), saw('1.0.0'), time('CRITICAL')])('is finished once', (seen) => {
    expect(verificationStep(run({ phase: 'ended' }), seen, NOW + 60 * MINUTE)).toEqual(STAY);
  });
});

describe('what an item in progress shows (SPEC §3.8)', () => {
  it('verifying or soaking, and until when', () => {
    expect(progressOf({ phase: 'verifying', deadline: NOW })).toEqual({ code: 'verifying', detail: null, until: NOW });
    expect(progressOf({ phase: 'soaking', deadline: NOW })).toEqual({ code: 'soaking', detail: null, until: NOW });
    expect(progressOf({ phase: 'executing', deadline: NOW })).toBeNull();
  });
});
