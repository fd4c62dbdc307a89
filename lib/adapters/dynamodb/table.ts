import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

/** The table as the embedded runtime and the tests make it; `infra` declares the same one (a test compares them). */
export function tableDefinition(name: string): CreateTableCommandInput {
  const attributes = ['pk', 'sk', 'gsi1pk', 'gsi1sk', 'gsi2pk', 'gsi2sk'];
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: (['gsi1', 'gsi2'] as const).map((index) => ({
      IndexName: index,
      KeySchema: [
        { AttributeName: `${index}pk`, KeyType: 'HASH' as const },
        { AttributeName: `${index}sk`, KeyType: 'RANGE' as const },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' as const },
    })),
  };
}
