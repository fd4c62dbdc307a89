import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { type Condition, expressionOf, type Update } from './expression.ts';
import type { Key } from './keys.ts';
import type { Row } from './row.ts';

/** One action of a transaction. `name` tells callers which one failed. */
export type Action =
  | { readonly kind: 'put'; readonly row: Row; readonly condition?: Condition }
  | { readonly kind: 'update'; readonly key: Key; readonly update: Update; readonly condition?: Condition }
  | { readonly kind: 'delete'; readonly key: Key; readonly condition?: Condition }
  | { readonly kind: 'check'; readonly key: Key; readonly condition: Condition };

/** On failure: the actions (by index) whose condition did not hold, each with the row as it is (null = there is none). */
export type TransactResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly failures: readonly { readonly index: number; readonly old: Row | null }[] };

type Item = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export function toTransactItems(table: string, actions: readonly Action[]): Item[] {
  return actions.map((action) => toItem(table, action));
}

function toItem(TableName: string, action: Action): Item {
  const common = { TableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };
  switch (action.kind) {
    case 'put':
      return { Put: { ...common, Item: action.row, ...expressionOf({ condition: action.condition }) } };
    case 'delete':
      return { Delete: { ...common, Key: action.key, ...expressionOf({ condition: action.condition }) } };
    case 'update': {
      const expression = expressionOf({ update: action.update, condition: action.condition });
      return { Update: { ...common, Key: action.key, UpdateExpression: '', ...expression } };
    }
    case 'check': {
      const expression = expressionOf({ condition: action.condition });
      return { ConditionCheck: { ...common, Key: action.key, ConditionExpression: '', ...expression } };
    }
  }
}
