import { readdirSync, readFileSync } from 'node:fs';
import aslValidator from 'asl-validator';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { finishEnqueueOutput } from '../../lib/contracts/workflow/enqueue.ts';
import { ENQUEUE_STATES, EXECUTION_ERRORS, WAVE_STATES } from '../../lib/contracts/workflow/states.ts';
import { resolveOutput, WAVE_NEXT } from '../../lib/contracts/workflow/wave.ts';
import { WORKFLOW_FUNCTIONS } from '../../local/engine.ts';
import { loadMachine, localMachine } from '../../local/local-asl.ts';

const state = z.looseObject({
  Type: z.string(),
  Comment: z.string().min(20),
  Resource: z.string().optional(),
  Next: z.string().optional(),
  TimeoutSeconds: z.number().optional(),
  TimeoutSecondsPath: z.string().optional(),
  Parameters: z.looseObject({ FunctionName: z.string(), Payload: z.record(z.string(), z.unknown()) }).optional(),
  Retry: z
    .array(
      z.looseObject({ Comment: z.string(), ErrorEquals: z.array(z.string()), JitterStrategy: z.literal('FULL'), MaxAttempts: z.number() }),
    )
    .optional(),
  Catch: z.array(z.looseObject({ ErrorEquals: z.array(z.string()), Next: z.string() })).optional(),
  Choices: z.array(z.looseObject({ Variable: z.string(), StringEquals: z.string(), Next: z.string() })).optional(),
  ItemProcessor: z
    .looseObject({ ProcessorConfig: z.object({ Mode: z.literal('INLINE') }), States: z.record(z.string(), z.unknown()) })
    .optional(),
  Error: z.string().optional(),
});
type State = z.infer<typeof state>;

const text = (machine: string): string => readFileSync(new URL(`../../infra/workflows/${machine}.asl.json`, import.meta.url), 'utf8');
const parsed = (machine: string) =>
  z.looseObject({ Comment: z.string(), States: z.record(z.string(), state) }).parse(JSON.parse(text(machine)));

/** All states, those inside a Map with the name of the Map around them. */
function statesOf(machine: string): { name: string; state: State; around: State | null }[] {
  return Object.entries(parsed(machine).States).flatMap(([name, outer]) => [
    { name, state: outer, around: null },
    ...Object.entries(outer.ItemProcessor?.States ?? {}).map(([inner, value]) => ({
      name: inner,
      state: state.parse(value),
      around: outer,
    })),
  ]);
}

const MACHINES = ['wave', 'enqueue'] as const;

test('there are no other state machines', () => {
  const files = readdirSync(new URL('../../infra/workflows/', import.meta.url)).filter((file) => file.endsWith('.asl.json'));
  expect(files.sort()).toEqual(['enqueue.asl.json', 'wave.asl.json']);
});

describe.each(MACHINES)('%s.asl.json', (machine) => {
  const states = statesOf(machine);
  const tasks = states.filter((entry) => entry.state.Type === 'Task');

  test('passes the validator of the States Language', () => {
    const result = aslValidator(JSON.parse(text(machine)), { checkPaths: true, checkArn: true });
    expect(result.errorsText('\n')).toBe('');
    expect(result.isValid).toBe(true);
  });

  test('its states are those of the contract, each with a comment', () => {
    expect(states.map((entry) => entry.name).sort()).toEqual([...(machine === 'wave' ? WAVE_STATES : ENQUEUE_STATES)].sort());
  });

  test('every task has a timeout, a retry with jitter and its total wait, and its failures end up in RecordFailure', () => {
    for (const { name, state: task, around } of tasks) {
      expect(task.TimeoutSeconds ?? task.TimeoutSecondsPath, name).toBeDefined();
      expect(
        task.Retry?.map((retry) => retry.Comment.includes('in all')),
        name,
      ).toEqual([true]);
      const catchers = task.Catch ?? around?.Catch ?? [];
      const last = catchers.at(-1);
      expect(last?.ErrorEquals, name).toEqual(['States.ALL']);
      expect(last?.Next, name).toBe(name === 'RecordFailure' ? 'FailureNotRecorded' : 'RecordFailure');
    }
  });

  test('retries and catches name standard errors only', () => {
    const names = states.flatMap(({ state: s }) => [...(s.Retry ?? []), ...(s.Catch ?? [])].flatMap((rule) => rule.ErrorEquals));
    for (const name of new Set(names)) expect(name).toMatch(/^(Lambda\.\w+|States\.(TaskFailed|Timeout|ALL))$/);
  });

  test('every substitution stands for something, and each function for one thing', () => {
    const used = new Set([...text(machine).matchAll(/\$\{(\w+)\}/g)].map((match) => match[1] ?? ''));
    used.delete('DefinitionHash');
    expect(used.size).toBeGreaterThan(0);
    for (const name of used) expect(WORKFLOW_FUNCTIONS).toHaveProperty(name);
    const functions = Object.values(WORKFLOW_FUNCTIONS);
    expect(new Set(functions).size).toBe(functions.length);
    expect(JSON.stringify(loadMachine(machine, WORKFLOW_FUNCTIONS))).not.toContain('${');
  });

  test('a function that does several things is told which: its state', () => {
    const byFunction = Map.groupBy(tasks, ({ state: task }) => task.Parameters?.FunctionName);
    for (const group of byFunction.values()) {
      if (group.length > 1) for (const { name, state: task } of group) expect(task.Parameters?.Payload['state']).toBe(name);
    }
  });

  test('there is one choice, on `next`, without a default: a closed list', () => {
    const choices = states.filter((entry) => entry.state.Type === 'Choice');
    expect(choices).toHaveLength(1);
    expect(choices[0]?.state).not.toHaveProperty('Default');
    expect(choices[0]?.state.Choices?.every((choice) => choice.Variable === '$.Payload.next')).toBe(true);
    const answers =
      machine === 'wave'
        ? [...WAVE_NEXT, ...resolveOutput.options.map((option) => option.shape.next.value)]
        : finishEnqueueOutput.shape.next.options;
    expect(choices[0]?.state.Choices?.map((choice) => choice.StringEquals).sort()).toEqual([...answers].sort());
  });

  test('its Fail states name the errors of the contract', () => {
    const errors = states.flatMap(({ state: s }) => (s.Type === 'Fail' ? [s.Error] : []));
    for (const error of errors) expect(EXECUTION_ERRORS).toContain(error);
  });

  test('is JSONPath, without what the local engine does not do', () => {
    expect(text(machine)).not.toMatch(/QueryLanguage|HeartbeatSeconds|Tolerated|DISTRIBUTED|"Wait"|"Parallel"/);
  });
});

describe('what the local engine is not trusted with is refused', () => {
  const one = (definition: object, top: object = {}) => JSON.stringify({ StartAt: 'A', ...top, States: { A: definition } });
  const task = {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Parameters: { FunctionName: '${F}' },
    TimeoutSeconds: 5,
    End: true,
  };
  test.each([
    ['a heartbeat', one({ ...task, HeartbeatSeconds: 5 }), /State A uses HeartbeatSeconds/],
    ['JSONata', one(task, { QueryLanguage: 'JSONata' }), /The workflow uses QueryLanguage/],
    ['a Wait', one({ Type: 'Wait', Seconds: 5, End: true }), /State A is a Wait/],
    [
      'tolerated failures',
      one({ Type: 'Map', ToleratedFailureCount: 1, ItemProcessor: { StartAt: 'A', States: {} }, End: true }),
      /ToleratedFailureCount/,
    ],
    ['a task without a timeout', one({ ...task, TimeoutSeconds: undefined }), /Task A has no timeout/],
    ['another integration', one({ ...task, Resource: 'arn:aws:states:::sqs:sendMessage' }), /Resource/],
    ['a substitution without a value', one({ ...task, Parameters: { FunctionName: '${G}' } }), /\$\{G\}, which stands for nothing/],
  ])('%s', (_, definition, message) => {
    expect(() => localMachine(definition, { F: 'f' })).toThrow(message);
  });
});
