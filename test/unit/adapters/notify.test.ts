import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { LambdaOutboxStarter } from '../../../lib/adapters/lambda/invoke.ts';
import { SnsNotifier } from '../../../lib/adapters/notify/sns.ts';
import type { NoticeMessage } from '../../../lib/contracts/events/notice.ts';

const sns = mockClient(SNSClient);
const lambda = mockClient(LambdaClient);
beforeEach(() => {
  sns.reset();
  lambda.reset();
});

const message = (n: number, organization: string | null = null): NoticeMessage => ({
  id: `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  event: 'wave_blocked',
  at: '2026-03-01T00:00:00.000Z',
  organization,
  subject: 'platform',
  url: null,
  text: 'Wave a is blocked.',
  data: {},
});

describe('the notices topic', () => {
  const notifier = new SnsNotifier(new SNSClient({ region: 'eu-central-1' }), 'arn:topic');
  const all = (input: { PublishBatchRequestEntries?: { Id?: string | undefined }[] | undefined }) =>
    (input.PublishBatchRequestEntries ?? []).map(({ Id }) => ({ Id, MessageId: 'm' }));

  it('gets the event id, the event and the organization as attributes to filter by', async () => {
    sns.on(PublishBatchCommand).callsFake((input) => ({ Successful: all(input), Failed: [] }));
    await notifier.send([message(1, 'org'), message(2)]);
    const [first, second] = sns.commandCalls(PublishBatchCommand)[0]?.args[0].input.PublishBatchRequestEntries ?? [];
    expect(first?.MessageAttributes).toEqual({
      event_id: { DataType: 'String', StringValue: message(1).id },
      event: { DataType: 'String', StringValue: 'wave_blocked' },
      organization: { DataType: 'String', StringValue: 'org' },
    });
    expect(second?.MessageAttributes?.['organization']).toBeUndefined();
    expect(JSON.parse(first?.Message ?? '')).toEqual(message(1, 'org'));
    expect(first?.Subject).toBe('Block Rollout: wave blocked');
  });

  it('answers for those that were taken, of any number', async () => {
    sns.on(PublishBatchCommand).callsFake((input) => ({ Successful: all(input).filter(({ Id }) => !Id?.endsWith('7')), Failed: [] }));
    const messages = Array.from({ length: 23 }, (_, n) => message(n));
    const taken = await notifier.send(messages);
    expect(messages.filter(({ id }) => !taken.has(id)).map(({ id }) => id)).toEqual([message(7).id, message(17).id]);
  });

  it('keeps what was sent before a fault, and throws where nothing was', async () => {
    sns
      .on(PublishBatchCommand)
      .callsFakeOnce((input) => ({ Successful: all(input), Failed: [] }))
      .rejects(new Error('throttled'));
    const messages = Array.from({ length: 15 }, (_, n) => message(n));
    expect((await notifier.send(messages)).size).toBe(10);
    await expect(notifier.send(messages)).rejects.toThrow('throttled');
  });
});

describe('the call of the outbox function', () => {
  const starter = () => new LambdaOutboxStarter(new LambdaClient({ region: 'eu-central-1' }), 'outbox');
  const asked = () =>
    lambda.commandCalls(InvokeCommand).map(({ args }) => {
      expect(args[0].input.InvocationType).toBe('Event');
      return (JSON.parse(String(args[0].input.Payload)) as { notices: string[] }).notices;
    });

  it('gathers what is asked for while a call is on its way, and loses none', async () => {
    const one = starter();
    lambda.on(InvokeCommand).callsFake(() => new Promise((resolve) => setImmediate(() => resolve({ StatusCode: 202 }))));
    await Promise.all(['a', 'b', 'c', 'd'].map((id) => one.start([id])));
    await one.start(['e']);
    expect(asked().flat().sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(asked().length).toBeLessThan(5);
  });

  it('says when it failed, and goes on afterwards', async () => {
    const one = starter();
    lambda.on(InvokeCommand).rejectsOnce(new Error('throttled')).resolves({ StatusCode: 202 });
    await expect(one.start(['a'])).rejects.toThrow('throttled');
    await one.start(['b']);
    expect(asked()).toEqual([['a'], ['b']]);
  });
});
