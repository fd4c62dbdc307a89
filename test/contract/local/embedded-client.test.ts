import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentClient, type Sender, Table } from '../../../lib/adapters/dynamodb/client.ts';
import { attributesOf, valuesOf } from '../../../local/attribute-values.ts';
import { EmbeddedClient } from '../../../local/embedded-client.ts';
import { type EmbeddedTable, startTable } from '../../../local/table.ts';

interface Side {
  readonly table: EmbeddedTable;
  readonly sender: Sender;
}
let sdk: Side;
let own: Side;
const stops: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  const [first, second] = await Promise.all([startTable({ file: null }), startTable({ file: null })]);
  const client = documentClient(first.client);
  const embedded = new EmbeddedClient(String(second.client.endpoint), { tokens: false });
  sdk = { table: first, sender: client };
  own = { table: second, sender: embedded.sender() };
  stops.push(
    () => client.destroy(),
    () => embedded.destroy(),
    first.stop,
    second.stop,
  );
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const TableName = 'block-rollout';
type Command = { constructor: { name: string }; input: object };

/** What came back, or what was thrown, without what belongs to the way it travelled. */
async function outcome({ sender }: Side, command: Command): Promise<unknown> {
  const send = sender.send.bind(sender) as (command: unknown) => Promise<object>;
  try {
    return plain(await send(command));
  } catch (error) {
    const { name, message, Item, CancellationReasons } = error as Error & { Item?: unknown; CancellationReasons?: unknown };
    return plain({ thrown: name, message, Item, CancellationReasons });
  }
}
const plain = (value: object): unknown => {
  const { $metadata: _metadata, ...rest } = value as Record<string, unknown>;
  return JSON.parse(JSON.stringify(rest));
};

async function same(command: () => Command): Promise<unknown> {
  const [theirs, ours] = await Promise.all([outcome(sdk, command()), outcome(own, command())]);
  expect(ours).toEqual(theirs);
  return ours;
}

const row = (sk: string, more: object = {}) => ({
  pk: 'P',
  sk,
  gsi1pk: 'G',
  gsi1sk: sk,
  n: 1,
  list: [1, 'a', null],
  map: { deep: { bytes: new Uint8Array([1, 255]) } },
  ...more,
});

test('each command and each refusal is the same as through the SDK', async () => {
  await same(() => new PutCommand({ TableName, Item: row('1'), ReturnConsumedCapacity: 'TOTAL' }));
  await same(
    () =>
      new PutCommand({
        TableName,
        Item: row('1'),
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
  );
  await same(() => new PutCommand({ TableName, Item: row('2', { set: new Set(['x', 'y']), gone: undefined }) }));
  await same(() => new GetCommand({ TableName, Key: { pk: 'P', sk: '2' }, ConsistentRead: true, ReturnConsumedCapacity: 'TOTAL' }));
  await same(() => new GetCommand({ TableName, Key: { pk: 'P', sk: 'none' } }));
  const update = {
    TableName,
    Key: { pk: 'P', sk: '1' },
    UpdateExpression: 'SET #n = #n + :one, m = :m',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':one': 1, ':m': { a: [true, 1.5] } },
  };
  await same(() => new UpdateCommand({ ...update, ReturnValues: 'ALL_OLD', ReturnConsumedCapacity: 'TOTAL' }));
  await same(() => new UpdateCommand({ ...update, ReturnValues: 'ALL_NEW' }));
  await same(() => new UpdateCommand({ ...update, ConditionExpression: '#n > :m', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }));
  await same(() => new UpdateCommand({ ...update, UpdateExpression: 'SET nonsense' }));
  await same(
    () =>
      new BatchGetCommand({
        RequestItems: {
          [TableName]: {
            Keys: [
              { pk: 'P', sk: '1' },
              { pk: 'P', sk: 'none' },
            ],
          },
        },
        ReturnConsumedCapacity: 'TOTAL',
      }),
  );
  const query = { TableName, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'P' } };
  const page = await same(() => new QueryCommand({ ...query, Limit: 1 }));
  expect(page).toMatchObject({ LastEvaluatedKey: { pk: 'P', sk: '1' } });
  await same(() => new QueryCommand({ ...query, ExclusiveStartKey: { pk: 'P', sk: '1' } }));
  await same(() => new QueryCommand({ ...query, Select: 'COUNT' }));
  await same(
    () =>
      new QueryCommand({ TableName, IndexName: 'gsi1', KeyConditionExpression: 'gsi1pk = :g', ExpressionAttributeValues: { ':g': 'G' } }),
  );
  await same(() => new ScanCommand({ TableName }));
});

test('transactions: committed, and cancelled with the old rows', async () => {
  const put = {
    TableName,
    Item: row('t1'),
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  const change = { TableName, Key: { pk: 'P', sk: '2' }, UpdateExpression: 'SET n = :n', ExpressionAttributeValues: { ':n': 7 } };
  const transact = () =>
    new TransactWriteCommand({ TransactItems: [{ Put: put }, { Update: change }, { Delete: { TableName, Key: { pk: 'P', sk: '1' } } }] });
  await same(transact);
  expect(await same(transact)).toMatchObject({
    thrown: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: { n: { N: '1' } } }, {}, {}],
  });
  await same(
    () =>
      new TransactWriteCommand({
        TransactItems: [{ ConditionCheck: { TableName, Key: { pk: 'P', sk: 'none' }, ConditionExpression: 'attribute_exists(pk)' } }],
      }),
  );
  await same(() => new DeleteCommand({ TableName, Key: { pk: 'P', sk: 't1' }, ReturnValues: 'ALL_OLD' }));
  await same(() => new ScanCommand({ TableName }));
});

/** The SDK itself stumbles over an object with a field of this name. */
const names = fc.string({ minLength: 1 }).filter((name) => name !== 'constructor');

const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

test('values take the form that the SDK gives them, and come back as they were', () => {
  fc.assert(
    fc.property(fc.dictionary(names, values, { noNullPrototype: true }), (object) => {
      const attributes = attributesOf(object);
      const sdks = marshall(object);
      expect(JSON.parse(JSON.stringify(attributes))).toEqual(
        JSON.parse(JSON.stringify(sdks, (_, v: unknown) => (v instanceof Uint8Array ? Buffer.from(v).toString('base64') : v))),
      );
      expect(valuesOf(attributes)).toEqual(unmarshall(sdks));
    }),
  );
});

test('a field named __proto__ is left out, as the SDK does, and sets no prototype', () => {
  const object = JSON.parse('{"__proto__": {"S": "x"}, "a": {"__proto__": ""}}') as object;
  expect(attributesOf(object)).toEqual({ a: { M: {} } });
  expect(attributesOf(object)).toEqual(marshall(object));
});

test('what the table cannot keep is refused', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, new Set(), () => 1])
    expect(() => attributesOf({ value })).toThrow('cannot keep');
});

test('a table that is gone is an error with its code', async () => {
  const gone = new EmbeddedClient('http://127.0.0.1:9', { tokens: false }).sender();
  await expect(gone.send(new GetCommand({ TableName, Key: { pk: 'a', sk: 'b' } }))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

describe('a transaction whose answer is lost', () => {
  /** What a row says that one transaction, sent through `lossy`, has added 1 to. */
  async function sum(sender: Sender, lossy: Sender): Promise<unknown> {
    await sender.send(new PutCommand({ TableName, Item: { pk: 'sum', sk: '#', n: 0 } }));
    const retry = { tries: 3, pause: () => Promise.resolve() };
    await new Table(lossy, TableName, retry)
      .transact([{ kind: 'update', key: { pk: 'sum', sk: '#' }, update: { add: { n: 1 } } }])
      .catch(() => undefined);
    return (await sender.send(new GetCommand({ TableName, Key: { pk: 'sum', sk: '#' }, ConsistentRead: true }))).Item?.['n'];
  }

  test.each([true, false])('counts once, with tokens (%s) or without', async (tokens) => {
    const { port, hostname } = new URL(String(own.table.client.endpoint));
    // Hands calls on, and breaks the first connection when the answer to a transaction comes back.
    let lost = 0;
    const proxy = createServer((socket) => {
      const table = connect(Number(port), hostname);
      let transaction = false;
      socket.on('data', (piece) => {
        transaction ||= piece.includes('TransactWriteItems');
        table.write(piece);
      });
      table.on('data', (piece) => (transaction && lost++ === 0 ? socket.destroy() : socket.write(piece)));
      for (const [one, other] of [
        [socket, table],
        [table, socket],
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const client = new EmbeddedClient(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, { tokens });
    expect(await sum(own.sender, client.sender())).toBe(1);
    expect(lost).toBe(tokens ? 2 : 1);
    client.destroy();
    proxy.close();
  });
});
