import { describe, expect, it } from 'vitest';
import { type ChoosableAgent, chooseAgent } from '../../../../lib/domain/agent/choose.ts';
import { agentState, massSilence, worst } from '../../../../lib/domain/agent/liveness.ts';
import { HOUR, MINUTE, SECOND } from '../../../../lib/domain/shared/time.ts';
import { NOW } from '../../../support/plan-facts.ts';

describe('liveness (SPEC §6)', () => {
  const silentFor = (seconds: number, critical = 300) => agentState(NOW - seconds * SECOND, NOW, 180, critical);

  it('B22 (a) never seen is no state, and not 1970', () => {
    expect(agentState(null, NOW, 180, 300)).toBeNull();
  });

  it('B22 (b) (c) CRITICAL at the very second of the limit, and again at each later check', () => {
    expect(silentFor(179, 180)).not.toBe('CRITICAL');
    for (const seconds of [180, 239, 299, 359, 419]) expect(silentFor(seconds, 180)).toBe('CRITICAL');
  });

  it.each([
    [0, 'OK'],
    [179, 'OK'],
    [180, 'WARNING'],
    [299, 'WARNING'],
    [300, 'CRITICAL'],
  ])('silent for %i s: %s', (seconds, state) => {
    expect(silentFor(seconds)).toBe(state);
  });

  it('a report that seems to come from the future is a report', () => {
    expect(silentFor(-5)).toBe('OK');
  });

  it('the worst of what is known', () => {
    expect(worst('OK', 'CRITICAL', 'WARNING')).toBe('CRITICAL');
    expect(worst(null, 'OK')).toBe('OK');
    expect(worst(null, null)).toBeNull();
    expect(worst()).toBeNull();
  });
});

describe('everybody silent at once (SPEC §6, B24)', () => {
  const check = (last_seen: number[]) => massSilence({ last_seen, previous_check: NOW - MINUTE, silent_after_seconds: 180 }, NOW);
  const fallen = (n: number) => Array.from({ length: n }, () => NOW - 180 * SECOND);
  const alive = (n: number) => Array.from({ length: n }, () => NOW - SECOND);

  it.each([
    [9, 0, false],
    [10, 0, true],
    [10, 9, true],
    [10, 10, false],
    [101, 99, true],
    [100, 100, false],
  ])('%i fall silent, %i report on: alert is %s', (silent, well, alert) => {
    expect(check([...fallen(silent), ...alive(well)])).toEqual({ alert, fell: silent, heard: silent + well });
  });

  it('counts who fell within this check: after the last one, up to now', () => {
    expect(check([NOW - 180 * SECOND]).fell).toBe(1);
    expect(check([NOW - 180 * SECOND + 1]).fell).toBe(0);
    expect(check([NOW - 240 * SECOND + 1]).fell).toBe(1);
    expect(check([NOW - 240 * SECOND]).fell).toBe(0);
  });

  it('agents not heard from for an hour have no say', () => {
    const gone = Array.from({ length: 500 }, () => NOW - HOUR);
    expect(check([...fallen(10), ...gone])).toEqual({ alert: true, fell: 10, heard: 10 });
  });
});

describe('who gets a run (SPEC §7)', () => {
  const agent = (key: string, parts: Partial<ChoosableAgent> = {}): ChoosableAgent => ({
    key,
    kind: 'agent',
    workspace: 'ws',
    k8s_cluster: null,
    last_seen: NOW - MINUTE,
    ...parts,
  });
  const operator = agent('operator', { kind: 'operator', k8s_cluster: 'c' });
  const bound = agent('bound', { k8s_cluster: 'c', last_seen: NOW });
  const floating = agent('floating', { last_seen: NOW });
  const cluster = { workspace: 'ws', k8s_cluster: 'c', has_token: true };
  const chosen = (agents: ChoosableAgent[], target = cluster as Parameters<typeof chooseAgent>[0]) => {
    const choice = chooseAgent(target, agents);
    return 'agent' in choice ? choice.agent.key : choice.missing;
  };

  it("the cluster's operator, else an agent bound to it, else one of its workspace", () => {
    expect(chosen([floating, bound, operator])).toBe('operator');
    expect(chosen([floating, bound])).toBe('bound');
    expect(chosen([floating])).toBe('floating');
  });

  it('a workspace-level block: one of its workspace only', () => {
    expect(chosen([operator, bound, floating], { ...cluster, k8s_cluster: null })).toBe('floating');
    expect(chosen([operator, bound], { ...cluster, k8s_cluster: null })).toBe('operator_config_missing');
  });

  it('one that never registered gets nothing', () => {
    expect(chosen([{ ...operator, last_seen: null }, floating])).toBe('floating');
    expect(chosen([{ ...operator, last_seen: null }])).toBe('operator_config_missing');
  });

  it('nobody: with a key its operator is missing, without one the key', () => {
    expect(chosen([])).toBe('operator_config_missing');
    expect(chosen([], { ...cluster, has_token: false })).toBe('no_agent_token');
  });

  it('never one of another cluster or workspace', () => {
    expect(
      chosen([
        { ...operator, k8s_cluster: 'other' },
        { ...bound, k8s_cluster: 'other' },
        { ...floating, workspace: 'other' },
      ]),
    ).toBe('operator_config_missing');
  });

  it('among equals the latest report, then the key, in any order', () => {
    const old = agent('a', { last_seen: NOW - HOUR });
    const [b, c] = [agent('b'), agent('c')];
    expect(chosen([old, c, b])).toBe('b');
    expect(chosen([b, c, old])).toBe('b');
  });

  it('a silent operator is still the one: the item waits for it', () => {
    expect(chosen([{ ...operator, last_seen: NOW - 100 * HOUR }, bound, floating])).toBe('operator');
  });
});
