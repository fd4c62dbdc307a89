import { PublishBatchCommand, type PublishBatchRequestEntry, SNSClient } from '@aws-sdk/client-sns';
import type { Notifier } from '../../app/ports.ts';
import type { NoticeMessage } from '../../contracts/events/notice.ts';

/** What SNS takes in one call. */
const BATCH = 10;

/**
 * The notices topic (SPEC §11). Subscribers filter by the attributes; a webhook is an HTTPS subscription, which SNS signs, retries and counts
 * (docs/decisions/0010).
 */
export class SnsNotifier implements Notifier {
  readonly #client: SNSClient;
  readonly #topic: string;

  constructor(client: SNSClient, topic: string) {
    this.#client = client;
    this.#topic = topic;
  }

  async send(messages: readonly NoticeMessage[]): Promise<ReadonlySet<string>> {
    const taken = new Set<string>();
    try {
      for (let i = 0; i < messages.length; i += BATCH) {
        const PublishBatchRequestEntries = messages.slice(i, i + BATCH).map(entryOf);
        const { Successful } = await this.#client.send(new PublishBatchCommand({ TopicArn: this.#topic, PublishBatchRequestEntries }));
        for (const { Id } of Successful ?? []) if (Id !== undefined) taken.add(Id);
      }
    } catch (error) {
      // What an earlier call has sent is sent.
      if (taken.size === 0) throw error;
    }
    return taken;
  }
}

const text = (value: string) => ({ DataType: 'String', StringValue: value });

function entryOf(message: NoticeMessage): PublishBatchRequestEntry {
  const { id, event, organization } = message;
  return {
    Id: id,
    Subject: `Block Rollout: ${event.replace('_', ' ')}`,
    Message: JSON.stringify(message),
    MessageAttributes: {
      event_id: text(id),
      event: text(event),
      ...(organization === null ? {} : { organization: text(organization) }),
    },
  };
}

export const snsNotifier = (topic: string): Notifier => new SnsNotifier(new SNSClient({}), topic);
