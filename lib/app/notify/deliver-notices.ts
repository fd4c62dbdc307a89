import { HOUR, type Instant, MINUTE } from '../../domain/shared/time.ts';
import type { Notice } from '../ports.ts';
import { messageOf } from './message.ts';
import type { NoticeServices, Waiting } from './ports.ts';

const PAGE = 50;

/**
 * SPEC §11: each notice at least once. A claim puts the next try off before anything is sent, so that two that deliver at once do not send the
 * same, and what a failure or a crash leaves is tried again: after a minute, two, four … and then each hour, as long as the notice is kept.
 * `named` = just written, looked up by id; none = whatever is due, until nothing is or `more` says that the time is over.
 */
export async function deliverNotices(services: NoticeServices, named: readonly string[], more: () => boolean): Promise<number> {
  if (named.length > 0) return deliver(services, await fresh(services, named));
  let delivered = 0;
  while (more()) {
    const page = await services.outbox.due(services.clock.now(), PAGE);
    const sent = await deliver(services, page);
    delivered += sent;
    // What was not sent stands further back now; an index that lags would show it again and again.
    if (page.length < PAGE || sent === 0) break;
  }
  return delivered;
}

/** The clocks of two machines differ: one that nobody has tried yet is due. */
async function fresh({ outbox, clock }: NoticeServices, named: readonly string[]): Promise<readonly Waiting[]> {
  return (await outbox.named(named)).filter(({ tries, next_try }) => tries === 0 || next_try <= clock.now());
}

async function deliver(services: NoticeServices, due: readonly Waiting[]): Promise<number> {
  const { outbox, clock } = services;
  const now = clock.now();
  const claims = await Promise.all(due.map((waiting) => outbox.claim(waiting, nextTry(waiting.tries, now))));
  const mine = due.filter((_, index) => claims[index] === true);
  if (mine.length === 0) return 0;
  const taken = await send(
    services,
    mine.map(({ notice }) => notice),
  );
  const sent = mine.filter(({ notice }) => taken.has(notice.id));
  await Promise.all(sent.map((waiting) => outbox.delivered(waiting, clock.now())));
  if (sent.length < mine.length) services.log.warn('notices_not_delivered', { notices: mine.length - sent.length });
  return sent.length;
}

async function send({ notifier, log }: NoticeServices, notices: readonly Notice[]): Promise<ReadonlySet<string>> {
  try {
    return await notifier.send(notices.map(messageOf));
  } catch (error) {
    log.error('notifier_failed', { error: String(error) });
    return new Set();
  }
}

/** `tries` = before this one. */
export const nextTry = (tries: number, now: Instant): Instant => now + Math.min(HOUR, MINUTE * 2 ** Math.min(tries, 6));
