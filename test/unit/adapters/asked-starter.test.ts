import { InvokeCommand, LambdaClient, TooManyRequestsException } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { AskedStarter } from '../../../lib/adapters/lambda/asked-starter.ts';
import type { WorkflowStarter } from '../../../lib/app/ports.ts';

const lambda = mockClient(LambdaClient);
beforeEach(() => lambda.reset());

const RUN = '0195a000-0000-7000-8000-00000000e001';
const woken: string[] = [];
const own: WorkflowStarter = {
  startWave: async () => Promise.reject(new Error('this function starts no waves')),
  startEnqueue: async () => Promise.reject(new Error('this function starts no enqueue runs')),
  sendWake: async (token) => void woken.push(token),
};
const starter = () => new AskedStarter(new LambdaClient({}), 'trigger', own);

test('an enqueue run is asked for and not waited for', async () => {
  lambda.on(InvokeCommand).resolves({ StatusCode: 202 });
  await expect(starter().startEnqueue({ enqueue_run: RUN })).resolves.toBe('started');
  const [call] = lambda.commandCalls(InvokeCommand);
  expect(call?.args[0].input).toEqual({ FunctionName: 'trigger', InvocationType: 'Event', Payload: JSON.stringify({ enqueue_run: RUN }) });
});

test('a call that was refused is an error, so that it stands in the log and the tick makes up for it', async () => {
  lambda.on(InvokeCommand).rejects(new TooManyRequestsException({ message: 'slow down', $metadata: {} }));
  await expect(starter().startEnqueue({ enqueue_run: RUN })).rejects.toThrow('slow down');
});

test('waves it wakes by itself and starts none', async () => {
  await starter().sendWake('token');
  expect(woken).toEqual(['token']);
  await expect(starter().startWave({ block_rollout: RUN, generation: 1 })).rejects.toThrow('starts no waves');
});
