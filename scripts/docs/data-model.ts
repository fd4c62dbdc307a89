import { KEYS, type KeyPattern } from '../../lib/adapters/dynamodb/keys.ts';
import { code, table } from './markdown.ts';

const PREFACE = `# Data model

One DynamoDB table, \`pk\` / \`sk\`, and two indexes that hold keys only: \`gsi1\` for lists, \`gsi2\` for the lanes of a wave and for rows that wait for an instant.
Every write is conditional; what belongs together changes in one transaction. Null, empty and false attributes are not stored. There is no table stream
(why: [0001](decisions/0001-one-table-without-a-stream.md)).

## Access patterns

What the rows are made for; the numbers stand in the code too. A budget is asserted by a test where it can be counted.
`;

const ACCESS: ReadonlyArray<readonly [string, string, string]> = [
  [
    'A1',
    'heartbeat that changes nothing',
    'one UpdateItem on the presence row: its condition is key, host and not revoked; the old row gives inbox and earlier facts',
  ],
  ['A2', 'first contact, another key, any refusal of A1', 'the key row is read consistently and the presence row rewritten'],
  ['A3', 'heartbeat that changes something', 'seen by comparing with the old row; only then further writes'],
  [
    'A4',
    'silent agents, summary, histogram',
    'the tick walks the sixteen presence partitions; liveness is derived from the last report, never stored',
  ],
  ['A5', 'enqueue a page of targets', 'facts by BatchGet; items in transactions, each with the guard on its block’s row'],
  [
    'A6',
    'next candidates of a wave',
    'ready lanes by calendar, sorted by order: only open calendars are read, so what waits for a window costs nothing',
  ],
  ['A7', 'items held one by one', 'parked lane sorted by the time to look again; freed by time or by the event'],
  [
    'A8',
    'dispatch',
    'one transaction for up to 20 items: wave, gate, and per item the item, its run and the agent’s inbox; an item that fails its condition is left out',
  ],
  ['A9', 'claim and finish an attempt', 'run and item; at the end also one counter row, inbox, block and gate'],
  ['A10', 'deadlines', 'due partitions sorted by deadline'],
  ['A11', 'lists and filters', 'partitions by organization, pages, never scans'],
  ['A12', 'full look at a reconciliation config', 'page by page over its targets'],
];

const indexes = (row: KeyPattern): string =>
  row.index === ''
    ? ''
    : row.index
        .split('; ')
        .map((index) => code(index))
        .join('<br>');

/** docs/data-model.md, from the list of key patterns beside the code that builds the keys. */
export function dataModelPage(): string {
  const rows = KEYS.map((row) => [row.entity, code(row.pattern), code(row.sk), indexes(row), row.serves]);
  const access = table(['', 'what', 'how'], ACCESS);
  return `${PREFACE}\n${access}\n## Rows\n\n${table(['row', 'pk', 'sk', 'indexes (partition / sort)', 'serves'], rows)}`;
}
