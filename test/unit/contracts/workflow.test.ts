import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  HISTORY_BUDGET,
  HISTORY_LIMIT,
  historyEventsOfTurn,
  MAX_BATCHES,
  MAX_ORDERS_PER_BATCH,
} from '../../../lib/contracts/workflow/history.ts';
import { enqueueExecutionName, MAX_EXECUTION_NAME, parseExecutionName, waveExecutionName } from '../../../lib/contracts/workflow/names.ts';
import { planWaveOutput } from '../../../lib/contracts/workflow/wave.ts';
import { ITEM, plan } from '../../support/workflow.ts';

const uuid = fc.uuid({ version: 7 });
const generation = fc.integer({ min: 1, max: 999_999 });
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);

describe('names of executions', () => {
  test('what is built is what is parsed, in at most 80 characters', () => {
    fc.assert(
      fc.property(uuid, generation, (block_rollout, g) => {
        const name = waveExecutionName(block_rollout, g);
        expect(name.length).toBeLessThanOrEqual(MAX_EXECUTION_NAME);
        expect(parseExecutionName(name)).toEqual({ machine: 'wave', block_rollout, generation: g });
      }),
    );
    fc.assert(
      fc.property(fc.oneof(uuid, hash), generation, (enqueue_run, g) => {
        const name = enqueueExecutionName(enqueue_run, g);
        expect(name.length).toBeLessThanOrEqual(MAX_EXECUTION_NAME);
        expect(parseExecutionName(name)).toEqual({ machine: 'enqueue', enqueue_run, generation: g });
      }),
    );
  });

  test.each([
    '',
    'wave',
    'wave-',
    'wave-x-g1',
    'd0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f',
    'wave-d0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f',
    'wave-d0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f-g0',
    'wave-d0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f-g01',
    'wave-d0d8a5f2-1f3b-4f6e-9d0e-1f1d2c3b4a5f-g1-g2',
    'wave-D0D8A5F2-1F3B-4F6E-9D0E-1F1D2C3B4A5F-g1',
    'enqueue--g1',
    'other-ab-g1',
    'enqueue-a/b-g1',
  ])('"%s" is not one of ours', (name) => {
    expect(parseExecutionName(name)).toBeNull();
  });

  test.each([0, -1, 1.5, 1_000_000, Number.NaN])('generation %d is refused', (g) => {
    expect(() => waveExecutionName(ITEM, g)).toThrow('generation');
  });

  test.each(['', 'x', 'AB', '-ab', 'a'.repeat(65), 'a b'])('"%s" is not the id of an enqueue run', (id) => {
    expect(() => enqueueExecutionName(id)).toThrow('enqueue run');
  });
});

describe('history', () => {
  test('one more turn of the largest size, every task of it retried six times, fits between the budget and the limit', () => {
    const turn = historyEventsOfTurn(MAX_BATCHES) + (MAX_BATCHES + 3) * 6 * 3;
    expect(HISTORY_BUDGET + 2 * turn).toBeLessThan(HISTORY_LIMIT);
  });

  test('the largest plan is well below the 256 KB that a state may hand on', () => {
    const order = {
      item: ITEM,
      agent: `HB#15/${ITEM}`,
      forced: true,
      not_after: '2026-03-01T00:00:00.000Z',
      version: '0.34.0-rc.1+build.77',
      app: 'polycrate-operator',
      app_reported: true,
    };
    const batch = { orders: Array.from({ length: MAX_ORDERS_PER_BATCH }, () => order) };
    const output = planWaveOutput.parse(plan('dispatch', { batches: Array.from({ length: MAX_BATCHES }, () => batch) }));
    expect(JSON.stringify({ Payload: output }).length).toBeLessThan(256_000);
    expect(planWaveOutput.safeParse(plan('dispatch', { batches: Array.from({ length: MAX_BATCHES + 1 }, () => batch) })).success).toBe(
      false,
    );
  });

  test.each([0, 86_401, 1.5, Number.NaN])('%d is not a wait that TimeoutSecondsPath takes', (wait_seconds) => {
    expect(planWaveOutput.safeParse(plan('await', { wait_seconds })).success).toBe(false);
  });

  test('the plan of an execution that began before a deployment still reads', () => {
    const { turn: _turn, events: _events, ...older } = plan('await');
    expect(planWaveOutput.parse(older)).toMatchObject({ turn: 0, events: 0 });
  });
});
