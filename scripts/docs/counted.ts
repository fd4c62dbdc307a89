/** What is counted by tests and reckoned with in docs/cost.md: one place, so that a test fails when a figure of the page is no longer true. */
export const COUNTED = {
  /** Capacity units; `test/contract/budgets.test.ts`. */
  heartbeat: { write: 1, read: 0 },
  /** From enqueue to completed and verified, one attempt, at most; `test/contract/budgets.test.ts`. */
  item: { write: 42, read: 15 },
  /** Metrics that the alarms look at, each of which is paid for; `test/infra/monitoring.test.ts`. */
  alarmMetrics: 32,
} as const;
