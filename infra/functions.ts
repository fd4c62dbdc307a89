/**
 * What the functions are and what each may do (DESIGN §6): the only list of permissions. `Functions` turns a permission into a grant and into the
 * environment values that go with it, so that no function knows an address that it may not use.
 */
export type Permission =
  /** Its name, which the services of every function are built with; no access. */
  | 'know table'
  | 'read table'
  | 'write table'
  /** The row of an access key, nothing else. */
  | 'use access keys'
  | 'start waves'
  | 'start enqueue runs'
  /** Ends the wait of a wave's execution. */
  | 'wake waves'
  | 'keep schedules'
  | 'publish notices'
  | 'invoke trigger'
  | 'invoke outbox'
  | 'invoke render';

export interface FunctionSettings {
  readonly description: string;
  /** MiB; the processor's share grows with it. */
  readonly memory: number;
  readonly seconds: number;
  readonly may: readonly Permission[];
  /** Invoked without anybody who waits for the answer: what fails for good goes to the queue of undelivered calls. */
  readonly asynchronous?: true;
}

/** The gateway waits 30 s at most, the workflows' tasks 35 s. */
const MOST_SECONDS = 29;

const workflowStep = { memory: 512, seconds: MOST_SECONDS } as const;

export const FUNCTIONS = {
  'agent-api': {
    description: 'Heartbeats and action runs of agents',
    memory: 512,
    seconds: 15,
    // It faces every cluster: it starts nothing and touches no schedule itself, but may ask.
    may: ['read table', 'write table', 'wake waves', 'invoke trigger', 'invoke outbox'],
  },
  api: {
    description: 'The API for people and programs',
    memory: 1_024,
    seconds: MOST_SECONDS,
    may: [
      'read table',
      'write table',
      'start waves',
      'start enqueue runs',
      'wake waves',
      'keep schedules',
      'invoke outbox',
      'invoke render',
    ],
  },
  authorizer: { description: 'Says who calls the API', memory: 512, seconds: 10, may: ['use access keys'] },
  'wave-plan': {
    description: 'Decides about a wave; starts drivers of waves and the next generation',
    ...workflowStep,
    may: ['read table', 'write table', 'start waves', 'start enqueue runs', 'wake waves', 'invoke outbox'],
  },
  'wave-dispatch': { description: 'Starts a batch of items', ...workflowStep, may: ['read table', 'write table'] },
  'wave-await': { description: 'Keeps the token of a waiting wave', ...workflowStep, may: ['read table', 'write table', 'wake waves'] },
  'wave-end': { description: 'Records why an execution failed', ...workflowStep, may: ['know table'] },
  'enqueue-plan': { description: 'Cuts the targets of an enqueue run into pages', ...workflowStep, may: ['read table'] },
  'enqueue-page': {
    description: 'Looks at a page of targets and makes items where there is demand',
    ...workflowStep,
    may: ['read table', 'write table', 'invoke outbox', 'invoke render'],
  },
  trigger: {
    description: 'Target of the schedules of cron rollout configs; starts enqueue runs',
    memory: 512,
    seconds: MOST_SECONDS,
    may: ['read table', 'write table', 'start enqueue runs'],
    asynchronous: true,
  },
  tick: {
    description: 'Each minute: everything that is due and that nobody did',
    memory: 1_024,
    seconds: 55,
    may: [
      'read table',
      'write table',
      'start waves',
      'start enqueue runs',
      'wake waves',
      'keep schedules',
      'invoke outbox',
      'invoke render',
    ],
    asynchronous: true,
  },
  'execution-watch': {
    description: 'Starts a successor for an execution that ended while its work still needs one',
    memory: 512,
    seconds: MOST_SECONDS,
    may: ['read table', 'write table', 'start waves', 'start enqueue runs'],
    asynchronous: true,
  },
  outbox: {
    description: 'Delivers notices',
    memory: 512,
    seconds: MOST_SECONDS,
    may: ['read table', 'write table', 'publish notices'],
    asynchronous: true,
  },
  /** One whole processor: a page with bad templates ends in time. */
  render: { description: 'Renders templates; sees neither the table nor anything else', memory: 1_769, seconds: MOST_SECONDS, may: [] },
} as const satisfies Readonly<Record<string, FunctionSettings>>;

export type FunctionName = keyof typeof FUNCTIONS;

/** Which function stands behind which substitution of the ASL files. */
export const WORKFLOW_ROLES = {
  PlanWaveFunctionArn: 'wave-plan',
  DispatchBatchFunctionArn: 'wave-dispatch',
  AwaitProgressFunctionArn: 'wave-await',
  RecordFailureFunctionArn: 'wave-end',
  PlanPagesFunctionArn: 'enqueue-plan',
  EnqueuePageFunctionArn: 'enqueue-page',
} as const satisfies Readonly<Record<string, FunctionName>>;
