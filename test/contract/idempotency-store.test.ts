import type { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentClient, type Sender, Table } from '../../lib/adapters/dynamodb/client.ts';
import { DynamoIdempotencyStore } from '../../lib/adapters/dynamodb/idempotency-store.ts';
import { keys } from '../../lib/adapters/dynamodb/keys.ts';
import { HOUR, SECOND } from '../../lib/domain/shared/time.ts';
import { type Embedded, embedded } from '../support/embedded.ts';

let env: Embedded;
let store: DynamoIdempotencyStore;
let now = 0;
beforeAll(async () => {
  env = await embedded();
  store = new DynamoIdempotencyStore(env.table);
  now = env.clock.now();
});
afterAll(() => env.stop());

const HASH = 'h1';
let used = 0;
const freshKey = (): string => `key-${used++}`;

describe('Idempotency-Key', () => {
  it('is fresh once; its answer is repeated, also an empty one', async () => {
    const bodies = [{ id: 'a', list: [1, null, 'ü\n'] }, null];
    for (const body of bodies) {
      const key = freshKey();
      expect(await store.begin('ann', key, HASH, now)).toEqual({ kind: 'fresh' });
      await store.finish('ann', key, 201, body);
      expect(await store.begin('ann', key, HASH, now + 1)).toEqual({ kind: 'replay', status: 201, body });
    }
  });

  it('belongs to its owner, whatever signs the two are made of', async () => {
    const pairs = [
      ['a', 'b#c'],
      ['a#b', 'c'],
      ['a%23b', 'c'],
      ['A', 'b#c'],
      ['', 'ä/ %'],
    ] as const;
    for (const [owner, key] of pairs) expect(await store.begin(owner, key, HASH, now)).toEqual({ kind: 'fresh' });
    for (const [owner, key] of pairs) expect(await store.begin(owner, key, HASH, now)).toEqual({ kind: 'in_progress' });
  });

  it('cannot be used for another request, neither before nor after the answer', async () => {
    const key = freshKey();
    await store.begin('ann', key, HASH, now);
    expect(await store.begin('ann', key, 'other', now)).toEqual({ kind: 'mismatch' });
    expect(await store.begin('ann', key, 'other', now + 61 * SECOND)).toEqual({ kind: 'mismatch' });
    await store.finish('ann', key, 200, {});
    expect(await store.begin('ann', key, 'other', now)).toEqual({ kind: 'mismatch' });
  });

  it('goes to one of many that come at once', async () => {
    const key = freshKey();
    const answers = await Promise.all(Array.from({ length: 20 }, () => store.begin('ann', key, HASH, now)));
    expect(answers.filter(({ kind }) => kind === 'fresh')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'in_progress')).toHaveLength(19);
  });

  it('is free again 60 s after a request that never got an answer; the first answer then stays', async () => {
    const key = freshKey();
    await store.begin('ann', key, HASH, now);
    expect(await store.begin('ann', key, HASH, now + 60 * SECOND - 1)).toEqual({ kind: 'in_progress' });
    expect(await store.begin('ann', key, HASH, now + 60 * SECOND)).toEqual({ kind: 'fresh' });
    expect(await store.begin('ann', key, HASH, now + 60 * SECOND)).toEqual({ kind: 'in_progress' });
    await store.finish('ann', key, 201, 'second');
    await store.finish('ann', key, 409, 'first, late');
    expect(await store.begin('ann', key, HASH, now + HOUR)).toEqual({ kind: 'replay', status: 201, body: 'second' });
  });

  it('ends after 24 h by comparison, whether or not the row has been deleted', async () => {
    const key = freshKey();
    await store.begin('ann', key, HASH, now);
    await store.finish('ann', key, 201, 'old');
    expect(await store.begin('ann', key, HASH, now + 24 * HOUR - 1)).toMatchObject({ kind: 'replay' });
    expect(await store.begin('ann', key, 'another request', now + 24 * HOUR)).toEqual({ kind: 'fresh' });
    expect(await store.begin('ann', key, 'another request', now + 24 * HOUR)).toEqual({ kind: 'in_progress' });
    const row = await env.table.get(keys.idempotency('ann', key), true);
    expect(row?.['expires_at']).toBe(Math.ceil((now + 48 * HOUR) / 1000));
  });

  it('is free at once when the request was refused without having done anything, but not when it was answered', async () => {
    const key = freshKey();
    await store.begin('ann', key, HASH, now);
    await store.release('ann', key);
    expect(await store.begin('ann', key, 'corrected', now + 1)).toEqual({ kind: 'fresh' });
    await store.finish('ann', key, 200, 1);
    await store.release('ann', key);
    expect(await store.begin('ann', key, 'corrected', now + 2)).toEqual({ kind: 'replay', status: 200, body: 1 });
  });

  it('is not made by an answer or a release that nobody has begun', async () => {
    const key = freshKey();
    await store.finish('ann', key, 200, {});
    await store.release('ann', key);
    expect(await env.table.get(keys.idempotency('ann', key), true)).toBeNull();
  });

  it('stays fresh when the table has written it but its answer was lost', async () => {
    const real = documentClient(env.client);
    let sent = 0;
    const lossy = {
      async send(command: UpdateCommand) {
        sent += 1;
        const answer = await real.send(command);
        if (sent === 1) throw Object.assign(new Error('lost'), { name: 'TimeoutError' });
        return answer;
      },
    };
    const table = new Table(lossy as Sender, env.name, { tries: 8, pause: () => Promise.resolve() });
    expect(await new DynamoIdempotencyStore(table).begin('ann', freshKey(), HASH, now)).toEqual({ kind: 'fresh' });
    expect(sent).toBe(2);
    real.destroy();
  });
});
