import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DynamoEngineStore } from '../../lib/adapters/dynamodb/engine-store.ts';
import { DynamoOutboxStore } from '../../lib/adapters/dynamodb/outbox-store.ts';
import { noticeOf } from '../../lib/app/engine/notices.ts';
import { deliverNotices } from '../../lib/app/notify/deliver-notices.ts';
import type { NoticeServices } from '../../lib/app/notify/ports.ts';
import { outboxTick } from '../../lib/app/notify/start-outbox.ts';
import { type NoticeMessage, noticeMessage } from '../../lib/contracts/events/notice.ts';
import { HOUR, MINUTE, SECOND } from '../../lib/domain/shared/time.ts';
import { type Embedded, embedded } from '../support/embedded.ts';

/** SPEC §11, DESIGN §4: notices are delivered at least once, from the table, without scanning it. */

let e: Embedded;
beforeAll(async () => {
  e = await embedded();
});
afterAll(() => e.stop());

const always = (): boolean => true;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A topic that can be out of order. */
class Topic {
  readonly got: NoticeMessage[] = [];
  refuses: (message: NoticeMessage) => boolean = () => false;
  down = false;

  async send(messages: readonly NoticeMessage[]): Promise<ReadonlySet<string>> {
    if (this.down) throw new Error('the topic is down');
    const taken = messages.filter((message) => !this.refuses(message));
    this.got.push(...taken.map((message) => noticeMessage.parse(message)));
    return new Set(taken.map(({ id }) => id));
  }
  ids(): string[] {
    return this.got.map(({ id }) => id).sort();
  }
}

let topic: Topic;
let services: NoticeServices;
beforeEach(async () => {
  topic = new Topic();
  services = { outbox: new DynamoOutboxStore(e.table), notifier: topic, clock: e.clock, log: silent };
  // What an earlier test has left is not this one's.
  e.clock.forward(2 * HOUR);
  await deliverNotices(services, [], always);
  topic.got.length = 0;
});

async function written(n: number): Promise<string[]> {
  const store = new DynamoEngineStore(e.table);
  const organization = e.ids.fresh();
  const notices = Array.from({ length: n }, () =>
    noticeOf({ ids: e.ids }, 'item_failed', { subject: e.ids.fresh(), organization }, 'install failed: exit code 1', e.clock.now()),
  );
  for (let i = 0; i < n; i += 50) expect(await store.commit({ notices: notices.slice(i, i + 50) })).toEqual({ ok: true });
  return notices.map(({ id }) => id).sort();
}

test('each is delivered once, with its event id and where to read on', async () => {
  const ids = await written(120);
  expect(await deliverNotices(services, [], always)).toBe(120);
  expect(topic.ids()).toEqual(ids);
  const [first] = topic.got;
  expect(first).toMatchObject({
    event: 'item_failed',
    url: `/api/v1/block-rollout-items/${first?.subject}/`,
    text: 'install failed: exit code 1',
  });
  e.clock.forward(2 * HOUR);
  expect(await deliverNotices(services, [], always)).toBe(0);
  expect(topic.got).toHaveLength(120);
});

test('two runs at once do not send the same', async () => {
  const ids = await written(80);
  await Promise.all([1, 2, 3].map(() => deliverNotices(services, [], always)));
  e.clock.forward(2 * HOUR);
  await deliverNotices(services, [], always);
  expect(topic.ids()).toEqual(ids);
});

test('named ones are delivered though no index shows them, and though the clock of whoever wrote them is ahead', async () => {
  const [a = '', b = ''] = await written(2);
  const behind = { ...services, clock: { ...e.clock, now: () => e.clock.now() - 3 * SECOND } };
  expect(await deliverNotices(behind, [a], always)).toBe(1);
  expect(topic.ids()).toEqual([a]);
  expect(await deliverNotices(services, [a, b], always)).toBe(1);
  expect(topic.ids()).toEqual([a, b]);
});

test('what is not taken is tried again after 1, 2, 4 … minutes and then each hour; the others are not held up', async () => {
  const [bad = '', ...good] = await written(4);
  topic.refuses = ({ id }) => id === bad;
  await deliverNotices(services, [], always);
  expect(topic.ids()).toEqual(good);
  const start = e.clock.now();
  const tries: number[] = [];
  topic.refuses = ({ id }) => {
    if (id === bad) tries.push(Math.round((e.clock.now() - start) / MINUTE));
    return id === bad;
  };
  for (let minute = 1; minute <= 250; minute++) {
    e.clock.forward(MINUTE);
    await deliverNotices(services, [], always);
  }
  expect(tries).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243]);
  topic.refuses = () => false;
  e.clock.forward(HOUR);
  expect(await deliverNotices(services, [], always)).toBe(1);
  expect(topic.ids()).toEqual([bad, ...good].sort());
});

test('while the topic is down nothing is lost', async () => {
  const ids = await written(60);
  topic.down = true;
  expect(await deliverNotices(services, [], always)).toBe(0);
  topic.down = false;
  e.clock.forward(MINUTE);
  await deliverNotices(services, [], always);
  expect(topic.ids()).toEqual(ids);
});

test('a death after sending and before remembering it sends the same event again', async () => {
  const [id = ''] = await written(1);
  const dying = { ...services.outbox, due: services.outbox.due.bind(services.outbox), named: services.outbox.named.bind(services.outbox) };
  const died = {
    ...services,
    outbox: {
      ...dying,
      claim: services.outbox.claim.bind(services.outbox),
      delivered: () => Promise.reject(new Error('the process is gone')),
    },
  };
  await expect(deliverNotices(died, [], always)).rejects.toThrow('gone');
  e.clock.forward(MINUTE);
  expect(await deliverNotices(services, [], always)).toBe(1);
  expect(topic.got.map((message) => message.id)).toEqual([id, id]);
});

test('an old run that comes to its end late does not end what a newer one has taken', async () => {
  const [id = ''] = await written(1);
  const [seen] = await services.outbox.due(e.clock.now(), 1);
  if (seen === undefined) throw new Error('nothing is due');
  expect(await services.outbox.claim(seen, e.clock.now() + MINUTE)).toBe(true);
  e.clock.forward(MINUTE);
  const [again] = await services.outbox.due(e.clock.now(), 1);
  if (again === undefined) throw new Error('nothing is due');
  expect(await services.outbox.claim(again, e.clock.now() + MINUTE)).toBe(true);
  await services.outbox.delivered(seen, e.clock.now());
  expect(await services.outbox.named([id])).toHaveLength(1);
  await services.outbox.delivered(again, e.clock.now());
  expect(await services.outbox.named([id])).toEqual([]);
});

test('a run ends when its time is over and leaves the rest', async () => {
  await written(120);
  let pages = 0;
  expect(await deliverNotices(services, [], () => pages++ < 1)).toBe(50);
});

test('the tick calls the outbox function where something is left, and one query says that nothing is', async () => {
  const calls: (readonly string[])[] = [];
  const tick = { clock: e.clock, outbox: services.outbox, starter: { start: async (ids: readonly string[]) => void calls.push(ids) } };
  const before = { ...e.table.units.total };
  await outboxTick(tick);
  expect(calls).toEqual([]);
  expect(e.table.units.total.read - before.read).toBeLessThanOrEqual(0.5);
  expect(e.table.units.total.write).toBe(before.write);
  await written(1);
  await outboxTick(tick);
  expect(calls).toEqual([[]]);
});
