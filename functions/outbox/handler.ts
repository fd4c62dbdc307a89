import middy from '@middy/core';
import { deliverNotices } from '../../lib/app/notify/deliver-notices.ts';
import type { NoticeServices } from '../../lib/app/notify/ports.ts';
import { outboxRequest } from '../../lib/contracts/events/notice.ts';
import { outboxStart } from '../../lib/lambda/outbox-start.ts';

/** A run ends before its time is over; the tick calls for what is left. */
const RESERVE_MS = 9_000;

/** Called after a commit that wrote notices, and by the tick for what is left. */
export const makeHandler = (services: NoticeServices) =>
  middy(async (event: unknown, context: { getRemainingTimeInMillis(): number }) => {
    const { notices } = outboxRequest.parse(event ?? {});
    return { delivered: await deliverNotices(services, notices, () => context.getRemainingTimeInMillis() > RESERVE_MS) };
  });

export const handler = outboxStart(makeHandler);
