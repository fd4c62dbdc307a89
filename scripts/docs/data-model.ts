import { KEYS, type KeyPattern } from '../../lib/adapters/dynamodb/keys.ts';
import { code, table } from './markdown.ts';

const PREFACE = `# Data model

One DynamoDB table, \`pk\` / \`sk\`, and two indexes that hold keys only: \`gsi1\` for lists, \`gsi2\` for the lanes of a wave and for rows that wait for an instant.
Every write is conditional; what belongs together changes in one transaction. Null, empty and false attributes are not stored. There is no table stream
(why: [0001](decisions/0001-one-table-without-a-stream.md)).
`;

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
  return `${PREFACE}\n${table(['row', 'pk', 'sk', 'indexes (partition / sort)', 'serves'], rows)}`;
}
