import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Schedule, ScheduleExpression, ScheduleGroup, ScheduleTargetInput, TimeWindow } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export interface SchedulesProps {
  readonly tick: LambdaFunction;
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
    props.tick.grantInvokeLatestVersion(this.role);
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
}
