import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Schedule, ScheduleExpression, ScheduleGroup, ScheduleTargetInput, TimeWindow } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

export interface SchedulesProps {
  readonly tick: LambdaFunction;
  readonly trigger: LambdaFunction;
  readonly undelivered: IQueue;
}

/** The static tick, and what the schedules of cron rollout configs need: a group of their own and the role that all schedules assume. */
export class Schedules extends Construct {
  readonly group: ScheduleGroup;
  readonly role: IRole;
  readonly #props: SchedulesProps;

  constructor(scope: Construct, id: string, props: SchedulesProps) {
    super(scope, id);
    this.#props = props;
    this.group = new ScheduleGroup(this, 'Group', { removalPolicy: RemovalPolicy.DESTROY });
    const ours = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': this.group.scheduleGroupArn } };
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('scheduler.amazonaws.com', { conditions: ours }) });
    for (const target of [props.tick, props.trigger]) target.grantInvokeLatestVersion(this.role);
    props.undelivered.grantSendMessages(this.role);
    this.#tick();
  }

  /** A minute that was missed is not made up for: the next tick does what is due. */
  #tick(): void {
    const { tick, undelivered } = this.#props;
    new Schedule(this, 'Tick', {
      description: 'Block Rollout: everything that is due',
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      scheduleGroup: this.group,
      timeWindow: TimeWindow.off(),
      target: {
        bind: () => ({
          arn: tick.functionArn,
          role: this.role,
          input: ScheduleTargetInput.fromObject({}),
          retryPolicy: { maximumEventAgeInSeconds: 60, maximumRetryAttempts: 0 },
          deadLetterConfig: { arn: undelivered.queueArn },
        }),
      },
    });
  }

  /** May make, change and remove schedules of this group, which run the trigger function under the role. */
  grantKeep(to: LambdaFunction): Readonly<Record<string, string>> {
    this.group.grantReadSchedules(to);
    this.group.grantWriteSchedules(to);
    this.group.grantDeleteSchedules(to);
    this.role.grantPassRole(to.grantPrincipal);
    const group = `arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/${this.group.scheduleGroupName}/*`;
    acknowledge(to.role ?? to, {
      [`AwsSolutions-IAM5[Resource::${group}]`]: 'Schedules are made at run time; the group holds those of this product only.',
    });
    return {
      SCHEDULE_GROUP_NAME: this.group.scheduleGroupName,
      SCHEDULE_ROLE_ARN: this.role.roleArn,
      TRIGGER_FUNCTION_ARN: this.#props.trigger.functionArn,
      SCHEDULE_DLQ_ARN: this.#props.undelivered.queueArn,
    };
  }
}
