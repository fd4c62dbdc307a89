import * as z from 'zod';
import { isEnqueueRunId } from './names.ts';

/** Input and output of each task state of `enqueue.asl.json`; the same rules as in `wave.ts`. */
const enqueue_run = z.string().refine(isEnqueueRunId, 'a UUID or a hash in hex is expected');
const execution = z.string().min(1).max(80);

/** Pages of one PlanPages: 500 of some 200 bytes are 100 KB of the 256 KB that a state may hand on; 3,500 history events. */
export const MAX_PAGES = 500;

/** A stretch of targets: in one organization's partition (null = all), after `from` up to and with `to` (null = open). */
export const enqueuePage = z.object({
  page: z.int().min(0),
  organization: z.string().nullable(),
  from: z.string().nullable(),
  to: z.string().nullable(),
});
export type EnqueuePage = z.infer<typeof enqueuePage>;

export const planPagesInput = z.object({ enqueue_run, execution });
export type PlanPagesInput = z.infer<typeof planPagesInput>;
/** A run that is finished, or that is no more, has no pages. */
export const planPagesOutput = z.object({ pages: z.array(enqueuePage).max(MAX_PAGES), max_concurrency: z.int().min(1).max(40) });
export type PlanPagesOutput = z.infer<typeof planPagesOutput>;

export const enqueuePageInput = z.object({ enqueue_run, execution, page: enqueuePage });
export type EnqueuePageInput = z.infer<typeof enqueuePageInput>;
export const enqueuePageOutput = z.object({ enqueued: z.int().min(0), skipped: z.int().min(0), unchanged: z.int().min(0) });
export type EnqueuePageOutput = z.infer<typeof enqueuePageOutput>;

export const finishEnqueueInput = z.object({ enqueue_run, execution });
export type FinishEnqueueInput = z.infer<typeof finishEnqueueInput>;
/** `more`: there are further pages than one plan holds. */
export const finishEnqueueOutput = z.object({ next: z.enum(['done', 'more']) });
export type FinishEnqueueOutput = z.infer<typeof finishEnqueueOutput>;
