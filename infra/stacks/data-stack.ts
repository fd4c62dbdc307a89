import { Stack, type StackProps } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { DataTable } from '../constructs/data-table.ts';
import { removalOf, type StageSettings } from '../stages.ts';

/** What must survive everything else: the table, and the key under which credentials are kept. */
export class DataStack extends Stack {
  readonly data: DataTable;
  readonly credentialsKey: Key;

  constructor(scope: Construct, id: string, { stage, ...props }: StackProps & { readonly stage: StageSettings }) {
    super(scope, id, props);
    this.data = new DataTable(this, 'Data', stage);
    this.credentialsKey = new Key(this, 'CredentialsKey', {
      description: 'Block Rollout: credentials of workspaces',
      enableKeyRotation: true,
      removalPolicy: removalOf(stage),
    });
  }
}
