import * as z from 'zod';
import { MAX_BATCHES, MAX_ORDERS_PER_BATCH } from './history.ts';

/**
 * Input and output of each task state of `wave.asl.json`, parsed on the way in and out. Ids and numbers only: a step reads its facts from the table.
 * Executions that started before a deployment go on with the new handlers, so a field may be added only with a default, and none may be taken away.
 */
const id = z.uuid();
const instant = z.iso.datetime();
const generation = z.int().min(1);
/** The execution's name; a wave's `driver`. */
const execution = z.string().min(1).max(80);

/** Where an execution stands: turns so far and an estimate of its history events. */
const position = { block_rollout: id, generation, turn: z.int().min(0).default(0), events: z.int().min(0).default(0) };

/** `input` is whatever the execution was started with: ours, or typed by hand in the console. */
export const resolveInput = z.object({ input: z.unknown(), execution });
export type ResolveInput = z.infer<typeof resolveInput>;

export const MAX_SAID = 10_000;
/** For the person who started it in the console. */
const said = z.string().max(MAX_SAID).default('');

export const resolveOutput = z.discriminatedUnion('next', [
  z.object({ next: z.literal('plan'), ...position }),
  z.object({ next: z.literal('started_others'), waves: z.array(id).max(1_000), said }),
  z.object({ next: z.literal('enqueued'), enqueue_run: z.string(), said }),
  /** `cause` is read in the console by the person who typed the input: what is wrong and what is expected. */
  z.object({ next: z.literal('invalid'), cause: z.string().min(1).max(2_000) }),
]);
export type ResolveOutput = z.input<typeof resolveOutput>;

export const planWaveInput = z.object({
  ...position,
  execution,
  /** Hash of the definition that this execution runs; when it is not the deployed one, the plan asks for a new generation. */
  definition: z.string().default(''),
});
export type PlanWaveInput = z.infer<typeof planWaveInput>;

export const waveOrder = z.object({
  item: id,
  /** Presence key of the agent that gets the run. */
  agent: z.string().min(1),
  forced: z.boolean(),
  /** The window's close: nothing starts at or after it. */
  not_after: instant.nullable(),
  /** What the plan knew of the target: the version that a report must differ from, and the app that shows it. */
  version: z.string().nullable(),
  app: z.string(),
  app_reported: z.boolean(),
});
export type WaveOrder = z.infer<typeof waveOrder>;

export const waveBatch = z.object({
  orders: z.array(waveOrder).min(1).max(MAX_ORDERS_PER_BATCH),
  /** When it was ordered, for the dispatch delay. */
  planned_at: instant.nullable().default(null),
});

export const WAVE_NEXT = ['dispatch', 'await', 'completed', 'cancelled', 'blocked', 'taken_over', 'continue'] as const;
export type WaveNext = (typeof WAVE_NEXT)[number];

/** Flat, and every field always there: a path that leads nowhere fails an execution. */
export const planWaveOutput = z.object({
  next: z.enum(WAVE_NEXT),
  ...position,
  execution,
  batches: z.array(waveBatch).max(MAX_BATCHES),
  /** Batches of one wave share its row, so a few at a time. */
  max_concurrency: z.int().min(1).max(40),
  /** Whole seconds until `recheck_at`; what TimeoutSecondsPath accepts. */
  wait_seconds: z.int().min(1).max(86_400),
  recheck_at: instant,
  /** What the plan saw of the counters; AwaitProgress goes on at once when they have moved on since. */
  seen: z.string(),
  /** For a person: why the wave is blocked, with the numbers; else empty. */
  cause: z.string().max(2_000),
});
export type PlanWaveOutput = z.input<typeof planWaveOutput>;

export const dispatchBatchInput = z.object({ block_rollout: id, generation, execution, batch: waveBatch });
export type DispatchBatchInput = z.input<typeof dispatchBatchInput>;
export const dispatchBatchOutput = z.object({ dispatched: z.int().min(0), refused: z.int().min(0) });
export type DispatchBatchOutput = z.infer<typeof dispatchBatchOutput>;

/** `wait_seconds` rides along for TimeoutSecondsPath. The answer is not read: the token's success is what ends the state. */
export const awaitProgressInput = z.object({
  block_rollout: id,
  generation,
  execution,
  token: z.string().min(1),
  seen: z.string(),
  recheck_at: instant,
  wait_seconds: z.int().min(1).max(86_400),
});
export type AwaitProgressInput = z.infer<typeof awaitProgressInput>;

export const continueAsNewInput = z.object({ block_rollout: id, generation, execution });
export type ContinueAsNewInput = z.infer<typeof continueAsNewInput>;
/** The generation that was started, or had been already. */
export const continueAsNewOutput = z.object({ generation });
export type ContinueAsNewOutput = z.infer<typeof continueAsNewOutput>;

/** What Catch hands over. */
export const caught = z.object({ Error: z.string(), Cause: z.string().default('') });

export const recordFailureInput = z.object({ execution, input: z.unknown(), failure: caught });
export type RecordFailureInput = z.infer<typeof recordFailureInput>;
export const recordFailureOutput = z.object({ cause: z.string() });
export type RecordFailureOutput = z.infer<typeof recordFailureOutput>;
