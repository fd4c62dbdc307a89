import * as z from 'zod';

/** "Step Functions Execution Status Change", as EventBridge hands it to execution-watch; only what is read. */
export const executionStatusChange = z.object({
  detail: z.object({
    executionArn: z.string(),
    name: z.string().min(1).max(80),
    status: z.enum(['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE']),
    /** What it was started with, as JSON; missing when it is too large for an event. */
    input: z.string().nullish(),
    /** Error of a Fail state or of the engine; missing while running or after success. */
    error: z.string().nullish(),
    cause: z.string().nullish(),
  }),
});

/** What the use case `executionWatch` gets. */
export interface ExecutionEnded {
  readonly execution: string;
  readonly status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  readonly error: string | null;
  /** What it was started with, as JSON; null when the event did not say. */
  readonly input: string | null;
}
