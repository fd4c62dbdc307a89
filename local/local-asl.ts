import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import * as z from 'zod';

/**
 * The only place that rewrites the ASL files for the local engine (aws-local-stepfunctions 3), and all that it rewrites:
 * - the engine's task timer is a real one, 60 s when none is given, and fires at once above 24.8 days: it is put out of the way, and
 *   the task itself keeps its timeout on our clock;
 * - the engine sleeps its back-off in real time: Retry is taken out of the file and done by the task itself, on our clock;
 * - substitutions become names of functions, the resource an ARN that is never called.
 * What the engine does not know or gets wrong is refused here: a file that starts to use it needs a decision first.
 */
const ENGINE_TIMEOUT_SECONDS = 2_000_000;
const STATE_TYPES = ['Task', 'Map', 'Choice', 'Succeed', 'Fail', 'Pass'];
const UNSUPPORTED = [
  'QueryLanguage',
  'HeartbeatSeconds',
  'HeartbeatSecondsPath',
  'ToleratedFailurePercentage',
  'ToleratedFailureCount',
  'ItemReader',
  'ItemBatcher',
  'ResultWriter',
  'Assign',
  'Arguments',
  'Output',
  'Credentials',
];

const retrier = z.object({
  ErrorEquals: z.array(z.string()),
  IntervalSeconds: z.number().default(1),
  BackoffRate: z.number().default(2),
  MaxAttempts: z.number().default(3),
  MaxDelaySeconds: z.number().default(Number.POSITIVE_INFINITY),
  JitterStrategy: z.enum(['NONE', 'FULL']).default('NONE'),
});
export type Retrier = z.infer<typeof retrier>;

const taskState = z.object({
  Resource: z.enum(['arn:aws:states:::lambda:invoke', 'arn:aws:states:::lambda:invoke.waitForTaskToken']),
  Parameters: z.object({ FunctionName: z.string() }),
  TimeoutSeconds: z.int().optional(),
  TimeoutSecondsPath: z.string().optional(),
  Retry: z.array(retrier).default([]),
});

export interface LocalTask {
  readonly function: string;
  readonly waitsForToken: boolean;
  /** Seconds, or the dotted path into the task's input at which they stand. */
  readonly timeout: number | readonly string[];
  readonly retry: readonly Retrier[];
}

export interface LocalMachine {
  readonly definition: StateMachineDefinition;
  /** By state name, those inside a Map too: names are unique in a file. */
  readonly tasks: ReadonlyMap<string, LocalTask>;
}

type State = Record<string, unknown>;
const machineFile = z.looseObject({ States: z.record(z.string(), z.record(z.string(), z.unknown())) });

const read = (machine: 'wave' | 'enqueue'): string =>
  readFileSync(new URL(`../infra/workflows/${machine}.asl.json`, import.meta.url), 'utf8');

/** What a running execution carries as `definition`, and the deployed functions know as the current one. */
export const definitionHash = (text = read('wave')): string => hash('sha256', text, 'hex').slice(0, 16);

export function loadMachine(machine: 'wave' | 'enqueue', functions: Readonly<Record<string, string>>): LocalMachine {
  return localMachine(read(machine), functions);
}

/** `functions`: for each `${…FunctionArn}` the function that stands behind it. */
export function localMachine(text: string, functions: Readonly<Record<string, string>>): LocalMachine {
  const values: Record<string, string> = { ...functions, DefinitionHash: definitionHash(text) };
  const resolved = text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The workflow names \${${name}}, which stands for nothing here.`);
    return value;
  });
  const tasks = new Map<string, LocalTask>();
  const definition = rewriteMachine(machineFile.parse(JSON.parse(resolved)), tasks);
  // The file is checked with asl-validator by a test; the engine's type describes the same thing field by field.
  return { definition: definition as StateMachineDefinition, tasks };
}

function rewriteMachine(machine: z.infer<typeof machineFile>, tasks: Map<string, LocalTask>): unknown {
  refuse('The workflow', machine);
  return {
    ...machine,
    States: Object.fromEntries(Object.entries(machine.States).map(([name, state]) => [name, rewriteState(name, state, tasks)])),
  };
}

function rewriteState(name: string, state: State, tasks: Map<string, LocalTask>): State {
  refuse(`State ${name}`, state);
  if (!STATE_TYPES.includes(String(state['Type'])))
    throw new Error(`State ${name} is a ${String(state['Type'])}, which the local engine is not trusted with.`);
  if (state['Type'] === 'Map') return { ...state, ItemProcessor: rewriteMachine(machineFile.parse(state['ItemProcessor']), tasks) };
  if (state['Type'] !== 'Task') return state;
  tasks.set(name, localTask(name, state));
  const { Retry: _retry, TimeoutSecondsPath: _path, ...kept } = state;
  return { ...kept, Resource: `arn:aws:lambda:us-east-1:000000000000:function:${name}`, TimeoutSeconds: ENGINE_TIMEOUT_SECONDS };
}

function localTask(name: string, state: State): LocalTask {
  const task = taskState.parse(state);
  const timeout = task.TimeoutSeconds ?? task.TimeoutSecondsPath?.split('.').slice(1);
  if (timeout === undefined) throw new Error(`Task ${name} has no timeout.`);
  return { function: task.Parameters.FunctionName, waitsForToken: task.Resource.endsWith('.waitForTaskToken'), timeout, retry: task.Retry };
}

function refuse(where: string, value: object): void {
  const found = UNSUPPORTED.filter((field) => field in value);
  if (found.length > 0) throw new Error(`${where} uses ${found.join(', ')}, which the local engine does not do.`);
}
