import {
  ExecutionAlreadyExists,
  InvalidToken,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StateMachineDoesNotExist,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { StepFunctionsStarter } from '../../../lib/adapters/stepfunctions/starter.ts';
import { WAVE } from '../../support/workflow.ts';

const sfn = mockClient(SFNClient);
const starter = new StepFunctionsStarter(new SFNClient({ region: 'eu-central-1' }), { wave: 'arn:wave', enqueue: 'arn:enqueue' });
const error = <T>(Type: new (options: { message: string; $metadata: object }) => T): T => new Type({ message: 'm', $metadata: {} });
beforeEach(() => {
  sfn.reset();
});

test('a wave is started under its name with exactly the agreed input', async () => {
  sfn.on(StartExecutionCommand).resolves({});
  expect(await starter.startWave({ block_rollout: WAVE, generation: 3 })).toBe('started');
  expect(sfn.commandCalls(StartExecutionCommand)[0]?.args[0].input).toEqual({
    stateMachineArn: 'arn:wave',
    name: `wave-${WAVE}-g3`,
    input: `{"block_rollout":"${WAVE}","generation":3}`,
  });
});

test('an enqueue run is started in its first generation unless told otherwise', async () => {
  sfn.on(StartExecutionCommand).resolves({});
  await starter.startEnqueue({ enqueue_run: 'ab12' });
  await starter.startEnqueue({ enqueue_run: 'ab12', generation: 2 });
  expect(sfn.commandCalls(StartExecutionCommand).map((call) => call.args[0].input.name)).toEqual(['enqueue-ab12-g1', 'enqueue-ab12-g2']);
});

test('a name that was used before is "exists", not an error', async () => {
  sfn.on(StartExecutionCommand).rejects(error(ExecutionAlreadyExists));
  expect(await starter.startWave({ block_rollout: WAVE, generation: 1 })).toBe('exists');
  expect(await starter.startEnqueue({ enqueue_run: 'ab12' })).toBe('exists');
});

test('any other refusal of a start is thrown', async () => {
  sfn.on(StartExecutionCommand).rejects(error(StateMachineDoesNotExist));
  await expect(starter.startWave({ block_rollout: WAVE, generation: 1 })).rejects.toThrow(StateMachineDoesNotExist);
});

test('a wake whose task is over had what it wanted', async () => {
  for (const gone of [error(TaskTimedOut), error(TaskDoesNotExist), error(InvalidToken)]) {
    sfn.on(SendTaskSuccessCommand).rejects(gone);
    await starter.sendWake('token');
  }
  sfn.on(SendTaskSuccessCommand).rejects(new Error('busy'));
  await expect(starter.sendWake('token')).rejects.toThrow('busy');
});

test('a function without the ARN of a machine starts no execution of it', async () => {
  const limited = new StepFunctionsStarter(new SFNClient({ region: 'eu-central-1' }), { wave: null, enqueue: 'arn:enqueue' });
  await expect(limited.startWave({ block_rollout: WAVE, generation: 1 })).rejects.toThrow('may not start the wave machine');
  expect(sfn.commandCalls(StartExecutionCommand)).toEqual([]);
});
