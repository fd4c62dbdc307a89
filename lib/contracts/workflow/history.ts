/**
 * An execution may write 25,000 history events. A turn of the wave machine costs
 *   PlanWave 5 + WhatNext 2 + DispatchBatches 4 + 7 for each batch, or PlanWave 5 + WhatNext 2 + AwaitProgress 6,
 * and three more for each retried task. 17 + 7 × batches is above both without retries.
 * Above HISTORY_BUDGET the plan asks for the next generation; what lies between it and the limit is room for retries of one turn:
 * 17 + MAX_BATCHES × (7 + 3 × 6 retries) = 1,017 events.
 */
export const HISTORY_LIMIT = 25_000;
export const HISTORY_BUDGET = 15_000;

/** Orders of one DispatchBatch call: one transaction (DESIGN A8). */
export const MAX_ORDERS_PER_BATCH = 20;
/** Batches of one turn: 800 orders of some 170 bytes are 136 KB of the 256 KB that a state may hand on. */
export const MAX_BATCHES = 40;

export const historyEventsOfTurn = (batches: number): number => 17 + 7 * batches;
