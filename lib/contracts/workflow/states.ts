/** The states of both machines; a test holds these lists and the ASL files together. */
export const WAVE_STATES = [
  'Resolve',
  'PlanWave',
  'WhatNext',
  'DispatchBatches',
  'DispatchBatch',
  'AwaitProgress',
  'ContinueAsNew',
  'RecordFailure',
  'WaveCompleted',
  'WaveCancelled',
  'TakenOver',
  'StartedOthers',
  'Enqueued',
  'Continued',
  'WaveBlocked',
  'InvalidInput',
  'CourierFailed',
  'FailureNotRecorded',
] as const;

export const ENQUEUE_STATES = [
  'PlanPages',
  'EnqueuePages',
  'EnqueuePage',
  'Finish',
  'IsDone',
  'RecordFailure',
  'Enqueued',
  'CourierFailed',
  'FailureNotRecorded',
] as const;

/** Error names of the Fail states, as the console shows them. The alarm for failed executions leaves `WaveBlocked` out: it is a verdict, not a defect. */
export const EXECUTION_ERRORS = ['WaveBlocked', 'InvalidInput', 'CourierFailed'] as const;
