import { RemovalPolicy } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

/** Where people subscribe. Encrypted with a key of its own: alarms of CloudWatch cannot publish to a topic under the key that AWS keeps for SNS. */
export class Notices extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const key = new Key(this, 'Key', {
      description: 'Block Rollout: notices and alarms on their way to those who subscribed',
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.grantEncryptDecrypt(new ServicePrincipal('cloudwatch.amazonaws.com'));
    this.topic = new Topic(this, 'Topic', { displayName: 'Block Rollout', masterKey: key, enforceSSL: true });
  }
}
