import {
  ConflictException,
  CreateScheduleCommand,
  DeleteScheduleCommand,
  ListSchedulesCommand,
  ResourceNotFoundException,
  SchedulerClient,
  ThrottlingException,
  UpdateScheduleCommand,
  ValidationException,
} from '@aws-sdk/client-scheduler';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { EventBridgeScheduler, schedulerFrom } from '../../../lib/adapters/scheduler/eventbridge.ts';
import type { ScheduleTimes } from '../../../lib/app/ports.ts';
import { parseCron } from '../../../lib/domain/recurrence/cron.ts';

const CONFIG = '0197a7c0-0000-7000-8000-000000000001';
const OTHER = '0197a7c0-0000-7000-8000-000000000002';
const aws = mockClient(SchedulerClient);
const target = { group: 'cron', function_arn: 'arn:trigger', role_arn: 'arn:role', dead_letter_arn: 'arn:dlq' };
const scheduler = new EventBridgeScheduler(new SchedulerClient({ region: 'eu-central-1' }), target);
const error = <T extends Error>(Type: new (options: { message: string; Message: string; $metadata: object }) => T): Error =>
  new Type({ message: 'm', Message: 'm', $metadata: {} });
beforeEach(() => {
  aws.reset();
});

function times(text: string): ScheduleTimes {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return { cron: parsed.cron, time_zone: 'Europe/Berlin' };
}

/** The group's schedules, page by page; the token is the number of the next page. */
const lists = (...pages: string[][]) =>
  aws.on(ListSchedulesCommand, { GroupName: 'cron', NamePrefix: 'cron-' }).callsFake(({ NextToken = '0' }: { NextToken?: string }) => {
    const next = Number(NextToken) + 1;
    return { Schedules: pages[next - 1]?.map((Name) => ({ Name })), ...(next < pages.length ? { NextToken: String(next) } : {}) };
  });

test('a schedule calls the trigger with the config and the minute, in the config’s zone, exactly, with a dead-letter queue', async () => {
  aws.on(UpdateScheduleCommand).resolves({});
  aws.on(DeleteScheduleCommand).rejects(error(ResourceNotFoundException));
  await scheduler.put(CONFIG, times('0 22 * * FRI'));
  expect(aws.commandCalls(UpdateScheduleCommand)[0]?.args[0].input).toEqual({
    GroupName: 'cron',
    Name: `cron-${CONFIG}`,
    ScheduleExpression: 'cron(0 22 ? * FRI *)',
    ScheduleExpressionTimezone: 'Europe/Berlin',
    FlexibleTimeWindow: { Mode: 'OFF' },
    State: 'ENABLED',
    Target: {
      Arn: 'arn:trigger',
      RoleArn: 'arn:role',
      Input: `{"rollout_config":"${CONFIG}","scheduled_time":"<aws.scheduler.scheduled-time>"}`,
      DeadLetterConfig: { Arn: 'arn:dlq' },
      RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 10 },
    },
  });
});

test('one that is not there yet is made; both day fields are two schedules, and one left over goes', async () => {
  aws.on(UpdateScheduleCommand).rejects(error(ResourceNotFoundException));
  aws.on(CreateScheduleCommand).resolves({});
  aws.on(DeleteScheduleCommand).resolves({});
  await scheduler.put(CONFIG, times('0 0 13 * 5'));
  expect(aws.commandCalls(CreateScheduleCommand).map(({ args: [{ input }] }) => [input.Name, input.ScheduleExpression])).toEqual([
    [`cron-${CONFIG}`, 'cron(0 0 13 * ? *)'],
    [`cron-${CONFIG}-2`, 'cron(0 0 ? * FRI *)'],
  ]);
  expect(aws.commandCalls(DeleteScheduleCommand)).toEqual([]);
  await scheduler.put(CONFIG, times('0 0 13 * *'));
  expect(aws.commandCalls(DeleteScheduleCommand).map(({ args: [{ input }] }) => input.Name)).toEqual([`cron-${CONFIG}-2`]);
});

test('made by somebody else at the same moment, it gets our times', async () => {
  aws.on(DeleteScheduleCommand).resolves({});
  aws.on(UpdateScheduleCommand).rejectsOnce(error(ResourceNotFoundException)).resolves({});
  aws.on(CreateScheduleCommand).rejects(error(ConflictException));
  await scheduler.put(CONFIG, times('0 22 * * *'));
  aws.on(UpdateScheduleCommand).rejects(error(ResourceNotFoundException));
  await expect(scheduler.put(CONFIG, times('0 22 * * *')), 'gone again meanwhile').rejects.toThrow(ConflictException);
});

test('a missing group, throttling and refused times are told to the caller', async () => {
  aws.on(UpdateScheduleCommand).rejects(error(ResourceNotFoundException));
  aws.on(CreateScheduleCommand).rejects(error(ResourceNotFoundException));
  await expect(scheduler.put(CONFIG, times('0 22 * * *'))).rejects.toThrow(ResourceNotFoundException);
  for (const refusal of [error(ThrottlingException), error(ValidationException)]) {
    aws.reset();
    aws.onAnyCommand().rejects(refusal);
    await expect(scheduler.put(CONFIG, times('0 22 * * *'))).rejects.toBe(refusal);
    await expect(scheduler.remove(CONFIG)).rejects.toBe(refusal);
    await expect(scheduler.differences(new Map())).rejects.toBe(refusal);
  }
});

test('removing takes both, and what is gone already had what it wanted', async () => {
  aws.on(DeleteScheduleCommand).rejectsOnce(error(ResourceNotFoundException)).resolves({});
  await scheduler.remove(CONFIG);
  expect(aws.commandCalls(DeleteScheduleCommand).map(({ args: [{ input }] }) => [input.GroupName, input.Name])).toEqual([
    ['cron', `cron-${CONFIG}`],
    ['cron', `cron-${CONFIG}-2`],
  ]);
});

test('differences: too few, too many, over all pages; what is not ours is not looked at', async () => {
  const wanted = new Map([
    [CONFIG, times('0 22 * * *')],
    [OTHER, times('0 0 13 * 5')],
  ]);
  lists([`cron-${CONFIG}`, 'cron-tick'], [`cron-${OTHER}`, `cron-${OTHER}-2`]);
  expect(await scheduler.differences(wanted)).toEqual([]);
  expect(await scheduler.differences(new Map())).toEqual([CONFIG, OTHER]);
  aws.reset();
  lists([`cron-${CONFIG}`, `cron-${CONFIG}-2`, `cron-${OTHER}`]);
  expect(await scheduler.differences(wanted)).toEqual([CONFIG, OTHER]);
});

test('another target is another revision; a function that is not configured for it says so', async () => {
  const { revision } = new EventBridgeScheduler(new SchedulerClient({}), { ...target, role_arn: 'arn:other' });
  expect(revision).not.toBe(scheduler.revision);
  const none = schedulerFrom({ ...target, group: undefined });
  for (const call of [none.put(CONFIG, times('0 22 * * *')), none.remove(CONFIG), none.differences(new Map())])
    await expect(call).rejects.toThrow('SCHEDULE_GROUP_NAME');
});
