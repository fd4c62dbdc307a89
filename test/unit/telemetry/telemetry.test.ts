import { afterEach, describe, expect, test, vi } from 'vitest';
import { lambdaTelemetry, localTelemetry } from '../../../lib/adapters/observability/telemetry.ts';
import { METRIC_DIMENSION, METRIC_NAMESPACE } from '../../../lib/contracts/telemetry/metrics.ts';
import { HandClock } from '../../support/embedded.ts';

const context = { functionName: 'wave-plan', awsRequestId: 'request-1' };
const nothing = () => Promise.resolve();

/** Lines that Lambda would take from the standard output and error meanwhile. */
function written() {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      lines.push(String(text).trimEnd());
      return true;
    });
  return { lines, parsed: () => lines.map((line) => JSON.parse(line)) };
}

afterEach(() => vi.restoreAllMocks());

describe('a line of the log', () => {
  const log = { wave: 'w', execution: 'e', numbers: { slots: 3 } };

  test('says the same on Lambda and in the embedded runtime', async () => {
    const clock = new HandClock();
    const local: string[] = [];
    const embedded = localTelemetry(clock, (line) => local.push(line));
    await embedded.call(context, async () => embedded.log.warn('wave_planned', { ...log, reason: null }));
    const out = written();
    const lambda = lambdaTelemetry(clock);
    await lambda.call(context, async () => lambda.log.warn('wave_planned', { ...log, reason: null }));
    const { timestamp, ...rest } = JSON.parse(local[0] ?? '');
    expect(timestamp).toBe(new Date(clock.now()).toISOString());
    expect(rest).toEqual({ level: 'WARN', event: 'wave_planned', function: 'wave-plan', request_id: 'request-1', ...log });
    expect(out.parsed()).toEqual([{ ...rest, timestamp: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  });

  test('names the call that it belongs to, of several that run at once', async () => {
    const lines: string[] = [];
    const telemetry = localTelemetry(new HandClock(), (line) => lines.push(line));
    const work = (request: string) =>
      telemetry.call({ ...context, awsRequestId: request }, async () => {
        await nothing();
        telemetry.log.info('wave_opened', { wave: request });
      });
    await Promise.all([work('a'), work('b')]);
    expect(lines.map((line) => JSON.parse(line)).map(({ request_id, wave }) => [request_id, wave])).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  test('below the level of the stage is not written', async () => {
    const out = written();
    const { log: lines } = lambdaTelemetry(new HandClock(), { level: 'WARN' });
    lines.info('wave_opened', { wave: 'w' });
    lines.warn('driver_replaced', { wave: 'w' });
    expect(out.parsed().map((line) => line.event)).toEqual(['driver_replaced']);
  });
});

describe('numbers on Lambda', () => {
  const clock = new HandClock();

  test('go out as one line at the end of a call, also of one that failed', async () => {
    const out = written();
    const { call, metrics } = lambdaTelemetry(clock, { stage: 'prod' });
    const failing = call(context, async () => {
      metrics.count('Dispatched', 3);
      metrics.count('Dispatched');
      metrics.took('DecisionSeconds', 120);
      metrics.took('DecisionSeconds', 80);
      metrics.measured({ WavesBlocked: 0 });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const [line, ...others] = out.parsed();
    expect(others).toEqual([]);
    expect(line).toMatchObject({ Dispatched: 4, DecisionSeconds: [0.12, 0.08], WavesBlocked: 0 });
    const [published] = line._aws.CloudWatchMetrics;
    expect(published).toMatchObject({ Namespace: METRIC_NAMESPACE, Dimensions: [[METRIC_DIMENSION]] });
    expect(line[METRIC_DIMENSION]).toBe('prod');
    expect(published.Metrics).toEqual(
      expect.arrayContaining([
        { Name: 'Dispatched', Unit: 'Count' },
        { Name: 'DecisionSeconds', Unit: 'Seconds' },
      ]),
    );
  });

  test('a call that counted nothing writes nothing', async () => {
    const out = written();
    await lambdaTelemetry(clock).call(context, nothing);
    expect(out.lines).toEqual([]);
  });

  test('heartbeats are gathered for a minute, and go out with anything else', async () => {
    const out = written();
    const { call, metrics } = lambdaTelemetry(clock);
    const beat = () => call(context, async () => metrics.count('Heartbeats'));
    await beat();
    await beat();
    expect(out.lines).toEqual([]);
    clock.forward(60_000);
    await beat();
    expect(out.parsed()).toMatchObject([{ Heartbeats: 3 }]);
    await beat();
    await call(context, async () => metrics.count('LateMessages'));
    expect(out.parsed()[1]).toMatchObject({ Heartbeats: 1, LateMessages: 1 });
  });

  test('more values than a line takes are no reason to fail', async () => {
    const out = written();
    const { call, metrics } = lambdaTelemetry(clock);
    await call(context, async () => {
      for (let i = 0; i < 500; i++) metrics.took('DecisionSeconds', i);
    });
    expect(out.parsed()).toHaveLength(1);
  });
});
