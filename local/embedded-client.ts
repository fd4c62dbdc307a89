import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Sender } from '../lib/adapters/dynamodb/client.ts';
import { type Attributes, attributesOf, valuesOf, withBytes } from './attribute-values.ts';
import { TableConnection } from './table-connection.ts';

/**
 * Carries the SDK's document commands to the embedded table without the SDK's client, whose signing, middleware and schemas cost four
 * times the processor time of the call itself (docs/benchmarks.md). Commands, answers and errors are the same; a test sends each through
 * both. Everything else, AWS and `DYNAMODB_ENDPOINT` included, goes through the SDK.
 */
export class EmbeddedClient {
  readonly #connections: readonly TableConnection[];
  readonly #host: string;
  readonly #tokens: boolean;

  /**
   * `tokens`: sends what makes a transaction that comes twice one, which costs the table a sixth of the transaction. Without them a transaction
   * is sent once: one whose connection breaks has failed for good, as its table has then ended.
   */
  constructor(endpoint: string, { tokens }: { readonly tokens: boolean }) {
    this.#tokens = tokens;
    const { hostname, port, host } = new URL(endpoint);
    this.#host = host;
    this.#connections = Array.from({ length: CONNECTIONS }, () => new TableConnection({ host: hostname, port: Number(port) }));
  }

  /** The part of a document client that the program uses. */
  sender(): Sender {
    const send = async (command: DocumentCommand): Promise<unknown> => {
      const operation = OPERATIONS[command.constructor.name];
      if (operation === undefined) throw new Error(`${command.constructor.name} is not carried to the embedded table.`);
      const input = wireInput(command.input);
      if (!this.#tokens) delete input['ClientRequestToken'];
      return answerOf(await this.#post(operation, JSON.stringify(input)));
    };
    // The SDK declares one overload for each of its commands; those in OPERATIONS are answered as it would.
    return { send: send as DynamoDBDocumentClient['send'] };
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  async #post(operation: string, body: string): Promise<Json> {
    const head = `POST / HTTP/1.1\r\nhost: ${this.#host}\r\n${HEADERS}x-amz-target: DynamoDB_20120810.${operation}\r\n`;
    const answer = await this.#freest()
      .send(head, body)
      .catch((error: unknown) => {
        if (this.#tokens || operation !== 'TransactWriteItems') throw error;
        // Without the code by which a lost connection is known: it would be tried again.
        throw new Error('The connection to the table broke in a transaction.', { cause: error });
      });
    const value: Json = JSON.parse(answer.body);
    if (answer.status !== 200) throw errorOf(value);
    return value;
  }

  #freest(): TableConnection {
    const free = this.#connections.find(({ open }) => open === 0);
    return free ?? this.#connections.reduce((least, other) => (other.open < least.open ? other : least));
  }
}

/** Enough that hardly ever two calls share one: the emulator holds a second answer back until the first is acknowledged, up to 40 ms. */
const CONNECTIONS = 32;

interface DocumentCommand {
  readonly constructor: { readonly name: string };
  readonly input: Json;
}
type Json = Record<string, unknown>;

const OPERATIONS: Readonly<Record<string, string>> = {
  GetCommand: 'GetItem',
  BatchGetCommand: 'BatchGetItem',
  QueryCommand: 'Query',
  ScanCommand: 'Scan',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  TransactWriteCommand: 'TransactWriteItems',
};

/** The emulator wants to see a signature, and does not look at it. */
const HEADERS = [
  'content-type: application/x-amz-json-1.0',
  'x-amz-date: 20260101T000000Z',
  'authorization: AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
]
  .map((line) => `${line}\r\n`)
  .join('');

/** Fields of a request or an answer that hold a row or parts of one, wherever they stand. */
const ROWS = new Set(['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey', 'Attributes', 'LastEvaluatedKey']);
const LISTS_OF_ROWS = new Set(['Keys', 'Items']);

function wireInput(input: Json): Json {
  return mapped(input, (row) => attributesOf(row as object));
}

function answerOf(answer: Json): Json {
  const { Responses, ...rest } = answer;
  const values = mapped(rest, (row) => valuesOf(row as Attributes));
  if (Responses === undefined) return values;
  const tables = Object.entries(Responses as Record<string, Attributes[]>).map(([table, rows]) => [table, rows.map(valuesOf)]);
  return { ...values, Responses: Object.fromEntries(tables) };
}

function mapped(value: Json, row: (value: unknown) => unknown): Json {
  const result: Json = {};
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    if (ROWS.has(name)) result[name] = row(inner);
    else if (LISTS_OF_ROWS.has(name) && Array.isArray(inner)) result[name] = inner.map(row);
    else if (Array.isArray(inner)) result[name] = inner.map((part) => (isJson(part) ? mapped(part, row) : part));
    else result[name] = isJson(inner) ? mapped(inner, row) : inner;
  }
  return result;
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An error as the SDK throws it: its name, its message, the old rows as the wire has them. */
function errorOf(body: Json): Error {
  const type = String(body['__type'] ?? 'UnknownError');
  const { __type: _type, message, Message, Item, CancellationReasons, ...rest } = body;
  const rows = Item === undefined ? {} : { Item: withBytes(Item) };
  const reasons = Array.isArray(CancellationReasons) ? { CancellationReasons: CancellationReasons.map(reasonOf) } : {};
  const error = Object.assign(new Error(String(message ?? Message ?? type)), rest, rows, reasons);
  error.name = type.slice(type.indexOf('#') + 1);
  return error;
}

const reasonOf = (reason: Json): Json => (reason['Item'] === undefined ? reason : { ...reason, Item: withBytes(reason['Item']) });
