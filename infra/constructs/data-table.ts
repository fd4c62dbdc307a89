import { AttributeType, Billing, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { removalOf, type StageSettings } from '../stages.ts';

const INDEXES = ['gsi1', 'gsi2'] as const;
const text = (name: string) => ({ name, type: AttributeType.STRING });

/** The one table (DESIGN §4), with grants as narrow as the program needs: no scan, no batch writes, no stream. */
export class DataTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, stage: StageSettings) {
    super(scope, id);
    this.table = new TableV2(this, 'Table', {
      partitionKey: text('pk'),
      sortKey: text('sk'),
      globalSecondaryIndexes: INDEXES.map((indexName) => ({
        indexName,
        partitionKey: text(`${indexName}pk`),
        sortKey: text(`${indexName}sk`),
        projectionType: ProjectionType.KEYS_ONLY,
      })),
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'expires_at',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: stage.keepData,
      removalPolicy: removalOf(stage),
    });
  }

  grantRead(grantee: IGrantable): Grant {
    const { tableArn } = this.table;
    return Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'],
      resourceArns: [tableArn, ...INDEXES.map((index) => `${tableArn}/index/${index}`)],
    });
  }

  /** The rows of access keys, by key. */
  grantKeys(grantee: IGrantable): Grant {
    const grant = Grant.addToPrincipal({ grantee, actions: ['dynamodb:GetItem', 'dynamodb:PutItem'], resourceArns: [this.table.tableArn] });
    for (const statement of grant.principalStatements)
      statement.addCondition('ForAllValues:StringLike', { 'dynamodb:LeadingKeys': ['access_key#*'] });
    return grant;
  }

  /** Transactions are allowed by the actions that they are made of. */
  grantWrite(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:ConditionCheckItem'],
      resourceArns: [this.table.tableArn],
    });
  }
}
