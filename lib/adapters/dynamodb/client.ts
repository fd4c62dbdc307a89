import { isDeepStrictEqual } from 'node:util';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unavailable } from '../../app/errors.ts';
import { type Condition, ExpressionBuilder, expressionOf, type Update } from './expression.ts';
import type { Key } from './keys.ts';
import { cancellation, failedRow, type Retry, withRetry } from './retry.ts';
import type { Row } from './row.ts';
import { type Action, type TransactResult, toTransactItems } from './transact.ts';
import { UnitMeter } from './units.ts';

/** What the table needs of a document client; the fault wrapper of the tests stands here. */
export type Sender = Pick<DynamoDBDocumentClient, 'send'>;

export interface QueryRequest {
  readonly index?: 'gsi1' | 'gsi2';
  readonly pk: string;
  readonly begins?: string;
  /** Inclusive bounds of the sort key. */
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly newest_first?: boolean;
  readonly start?: Record<string, unknown> | null;
  readonly consistent?: boolean;
}

export interface QueryPage {
  readonly rows: Row[];
  readonly next: Record<string, unknown> | null;
}

/** An emulator on this machine looks whether there is a signature, not at it; making real ones is a third of a call's time. */
const UNSIGNED: Pick<DynamoDBClientConfig, 'signer'> = {
  signer: {
    sign: async (request) => {
      request.headers['authorization'] =
        'AWS4-HMAC-SHA256 Credential=local/20200101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0';
      request.headers['x-amz-date'] = '20200101T000000Z';
      return request;
    },
  },
};
const isLoopback = (endpoint: unknown): boolean =>
  typeof endpoint === 'string' && /^http:\/\/(127\.0\.0\.1|localhost)(:|\/|$)/.test(endpoint);

/** A connection that hangs must not cost a function its whole time: the call ends, and is tried again. */
const PATIENCE: DynamoDBClientConfig = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};

export function documentClient(config: DynamoDBClientConfig): DynamoDBDocumentClient {
  const local = isLoopback(config.endpoint);
  const client = new DynamoDBClient({ ...(local ? { ...UNSIGNED, maxAttempts: 1 } : PATIENCE), ...config });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true, convertEmptyValues: false } });
  // What only the service looks at, or nobody: a fifth of a call's time.
  if (local)
    for (const name of ['getUserAgentMiddleware', 'loggerMiddleware', 'recursionDetectionMiddleware', 'hostHeaderMiddleware'])
      document.middlewareStack.remove(name);
  return document;
}

type Consumed =
  | { CapacityUnits?: number | undefined; WriteCapacityUnits?: number | undefined; ReadCapacityUnits?: number | undefined }
  | undefined;

/** The one table. Every call is counted in units and retried on conflicts and throttling (8 tries), then `unavailable`. */
export class Table {
  readonly units = new UnitMeter();
  readonly #sender: Sender;
  readonly #name: string;
  readonly #retry: Retry;

  constructor(sender: Sender, name: string, retry: Retry) {
    this.#sender = sender;
    this.#name = name;
    this.#retry = retry;
  }

  async get(key: Key, consistent = false): Promise<Row | null> {
    const input = { TableName: this.#name, Key: key, ConsistentRead: consistent, ReturnConsumedCapacity: 'TOTAL' as const };
    const answer = await withRetry(this.#retry, () => this.#sender.send(new GetCommand(input)));
    this.#read(answer.ConsumedCapacity);
    return (answer.Item as Row | undefined) ?? null;
  }

  /** In any order; missing ones are left out. */
  async getMany(wanted: readonly Key[], consistent = false): Promise<Row[]> {
    const unique = [...new Map(wanted.map((k) => [`${k.pk}\u0000${k.sk}`, { pk: k.pk, sk: k.sk }])).values()];
    const chunks = Array.from({ length: Math.ceil(unique.length / 100) }, (_, i) => unique.slice(i * 100, i * 100 + 100));
    return (await Promise.all(chunks.map((chunk) => this.#batch(chunk, consistent)))).flat();
  }

  async #batch(wanted: Key[], consistent: boolean): Promise<Row[]> {
    const rows: Row[] = [];
    let left: Key[] = wanted;
    for (let round = 0; left.length > 0; round++) {
      if (round >= this.#retry.tries) throw unavailable('The table keeps refusing reads; try again in a moment.');
      if (round > 0) await this.#retry.pause(round);
      const keys = left;
      const answer = await withRetry(this.#retry, () =>
        this.#sender.send(
          new BatchGetCommand({
            RequestItems: { [this.#name]: { Keys: [...keys], ConsistentRead: consistent } },
            ReturnConsumedCapacity: 'TOTAL',
          }),
        ),
      );
      for (const consumed of answer.ConsumedCapacity ?? []) this.#read(consumed);
      rows.push(...((answer.Responses?.[this.#name] ?? []) as Row[]));
      left = (answer.UnprocessedKeys?.[this.#name]?.Keys ?? []) as Key[];
    }
    return rows;
  }

  async query(request: QueryRequest): Promise<QueryPage> {
    const answer = await withRetry(this.#retry, () => this.#sender.send(new QueryCommand(this.#queryInput(request))));
    this.#read(answer.ConsumedCapacity);
    return { rows: (answer.Items ?? []) as Row[], next: answer.LastEvaluatedKey ?? null };
  }

  /** Every page of a partition. */
  async queryAll(request: QueryRequest): Promise<Row[]> {
    const rows: Row[] = [];
    let start = request.start ?? null;
    do {
      const page: QueryPage = await this.query({ ...request, start });
      rows.push(...page.rows);
      start = page.next;
    } while (start !== null);
    return rows;
  }

  async count(request: QueryRequest): Promise<number> {
    let total = 0;
    let start: Record<string, unknown> | null = null;
    do {
      const input: QueryCommandInput = { ...this.#queryInput({ ...request, start }), Select: 'COUNT' };
      const answer = await withRetry(this.#retry, () => this.#sender.send(new QueryCommand(input)));
      this.#read(answer.ConsumedCapacity);
      total += answer.Count ?? 0;
      start = answer.LastEvaluatedKey ?? null;
    } while (start !== null);
    return total;
  }

  #queryInput(request: QueryRequest): QueryCommandInput {
    const builder = new ExpressionBuilder();
    const prefix = request.index ?? '';
    const parts = [`${builder.path(`${prefix}pk`)} = ${builder.value(request.pk)}`];
    const sort = `${prefix}sk`;
    if (request.begins !== undefined && request.begins !== '')
      parts.push(`begins_with(${builder.path(sort)}, ${builder.value(request.begins)})`);
    else if (request.from !== undefined && request.to !== undefined)
      parts.push(`${builder.path(sort)} BETWEEN ${builder.value(request.from)} AND ${builder.value(request.to)}`);
    else if (request.from !== undefined) parts.push(`${builder.path(sort)} >= ${builder.value(request.from)}`);
    else if (request.to !== undefined) parts.push(`${builder.path(sort)} <= ${builder.value(request.to)}`);
    return {
      TableName: this.#name,
      ...(request.index === undefined ? { ConsistentRead: request.consistent ?? false } : { IndexName: request.index }),
      KeyConditionExpression: parts.join(' AND '),
      ...builder.attributes(),
      ScanIndexForward: request.newest_first !== true,
      ...(request.limit === undefined ? {} : { Limit: request.limit }),
      ...(request.start === undefined || request.start === null ? {} : { ExclusiveStartKey: request.start }),
      ReturnConsumedCapacity: 'TOTAL',
    };
  }

  /** One conditional update. `ok: false` carries the row that failed the condition (null = there was none). */
  async update(
    key: Key,
    update: Update,
    condition?: Condition,
    returns: 'ALL_OLD' | 'ALL_NEW' = 'ALL_NEW',
  ): Promise<{ ok: true; row: Row | null } | { ok: false; row: Row | null }> {
    const input = {
      TableName: this.#name,
      Key: key,
      ...expressionOf({ update, condition }),
      ReturnValues: returns,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      ReturnConsumedCapacity: 'TOTAL' as const,
    };
    try {
      const answer = await withRetry(this.#retry, () => this.#sender.send(new UpdateCommand(input)));
      this.#write(answer.ConsumedCapacity);
      return { ok: true, row: (answer.Attributes as Row | undefined) ?? null };
    } catch (error) {
      return { ok: false, row: failedRow(error) };
    }
  }

  /** One conditional put. A row that is there exactly as given counts as written: the answer of an earlier try was lost. */
  async put(row: Row, condition?: Condition): Promise<boolean> {
    const input = {
      TableName: this.#name,
      Item: row,
      ...expressionOf({ condition }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      ReturnConsumedCapacity: 'TOTAL' as const,
    };
    try {
      const answer = await withRetry(this.#retry, () => this.#sender.send(new PutCommand(input)));
      this.#write(answer.ConsumedCapacity);
      return true;
    } catch (error) {
      return isDeepStrictEqual(failedRow(error), row);
    }
  }

  /** All or nothing, at most 100 actions, never two on one row. A lost answer is asked for again under the same token. */
  async transact(actions: readonly Action[]): Promise<TransactResult> {
    if (actions.length > 100) throw new Error(`a transaction of ${actions.length} actions; 100 is the most`);
    const input = {
      TransactItems: toTransactItems(this.#name, actions),
      ClientRequestToken: crypto.randomUUID(),
      ReturnConsumedCapacity: 'TOTAL' as const,
    };
    try {
      const answer = await withRetry(this.#retry, () => this.#sender.send(new TransactWriteCommand(input)));
      for (const consumed of answer.ConsumedCapacity ?? []) this.#write(consumed);
      return { ok: true };
    } catch (error) {
      return { ok: false, failures: cancellation(error) };
    }
  }

  #write(consumed: Consumed): void {
    this.units.count(consumed?.WriteCapacityUnits ?? consumed?.CapacityUnits ?? 0, consumed?.ReadCapacityUnits ?? 0);
  }

  #read(consumed: Consumed): void {
    this.units.count(0, consumed?.ReadCapacityUnits ?? consumed?.CapacityUnits ?? 0);
  }
}
