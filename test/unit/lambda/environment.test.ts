import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NEEDS, readEnvironment } from '../../../lib/lambda/environment.ts';

const MACHINE = 'arn:aws:states:eu-central-1:000000000000:stateMachine:wave';

test('every function says what it needs, and nothing else does', () => {
  expect(Object.keys(NEEDS).sort()).toEqual(readdirSync(new URL('../../../functions', import.meta.url)).sort());
});

test('a function gets what it needs and sees nothing else', () => {
  const values = { TABLE_NAME: 'fleet', WAVE_MACHINE_ARN: MACHINE, AWS_REGION: 'eu-central-1' };
  expect(readEnvironment('enqueue-plan', values)).toEqual({ TABLE_NAME: 'fleet' });
  expect(readEnvironment('authorizer', values)).toEqual({ TABLE_NAME: 'fleet' });
});

test('missing and broken values are named with the function, all at once', () => {
  const values = { TABLE_NAME: 'fleet', WAVE_MACHINE_ARN: 'arn:aws:lambda:eu-central-1:1:function:x', ENQUEUE_MACHINE_ARN: '' };
  expect(() => readEnvironment('wave-plan', values)).toThrow(
    'Function wave-plan is not configured completely: WAVE_MACHINE_ARN is not the ARN of something in states; ' +
      'ENQUEUE_MACHINE_ARN is missing; WAVE_DEFINITION is missing; OUTBOX_FUNCTION_NAME is missing.',
  );
});
